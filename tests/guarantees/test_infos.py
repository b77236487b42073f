"""One contract of infos in every interface, as libraries write them into arrays and tensors."""

import numpy as np
import pytest
from interfaces import INTERFACES, Interface, begun, choices

WITH_INFOS = [name for name in INTERFACES if INTERFACES[name].infos is not Interface.infos]


@pytest.mark.parametrize("name", WITH_INFOS)
def test_infos_have_the_same_keys_types_and_shapes_at_every_step(
    name: str,
) -> None:
    """From reset to the end; only numbers and arrays of numbers."""
    table = begun(name, 2, "front", max_turns=20)
    forms, ends, asked = set(), set(), table.asked()
    while True:
        for info in table.infos():
            forms.add(tuple((key, value.dtype, value.shape) for key, value in info.items()))
            ends |= set(np.atleast_1d(info["end_reason"]).tolist())
        if asked is None:
            break
        _, observation, mask = asked
        table.play(int(choices(observation[None], mask[None])[0]))
        asked = table.asked()
    (form,) = forms
    assert {kind.kind for _, kind, _ in form} <= {"i", "f", "b"}
    assert ends > {0}
