"""The public names of ``skyenv`` and its errors.

Ruff's rules D and strict mypy check docstrings and types.
"""

import inspect

import skyenv
from skyenv import errors

OFFERED = {name: getattr(skyenv, name) for name in skyenv.__all__}


def test_public_names_are_exactly_those_of_all() -> None:
    public = {name: thing for name, thing in vars(skyenv).items() if not name.startswith("_")}
    others = {"annotations", "register", "PackageNotFoundError", "version"}
    modules = {name for name, thing in public.items() if inspect.ismodule(thing)}
    assert public.keys() - modules - others == OFFERED.keys()
    assert len(skyenv.__all__) == len(OFFERED)
    assert skyenv.NUM_ACTIONS == len(skyenv.ACTION_NAMES) == 103
    assert skyenv.__version__[0].isdigit()
    parameters = list(inspect.signature(skyenv.Games).parameters)  # as help() shows them
    assert parameters[:3] == ["num_games", "num_players", "side"]


def test_every_error_is_a_skyenv_error_and_value_error() -> None:
    """All are public; a missing package is an ImportError instead."""
    things = [thing for thing in vars(errors).values() if inspect.isclass(thing)]
    kinds = {one for one in things if issubclass(one, Exception)} - {skyenv.SkyenvError}
    assert kinds <= set(OFFERED.values())
    assert all(issubclass(kind, skyenv.SkyenvError) for kind in kinds)
    others = {kind for kind in kinds if not issubclass(kind, ValueError)}
    assert others == {skyenv.MissingExtraError}
    assert issubclass(skyenv.GameOverError, skyenv.IllegalActionError)
    assert issubclass(skyenv.BoardError, skyenv.OptionError)
