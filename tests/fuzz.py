"""A farm of damaged files, odd requests, random games and killed programs.

``python tests/fuzz.py MINUTES [KIND ...]`` (``make fuzz``) makes inputs of every kind for so long,
prints counts by kind, and keeps those that fail in tests/cases/found, from where tests/test_fuzz.py
tries them again.
"""

import copy
import io
import json
import os
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from judging import (
    AGENTS,
    DECISIONS,
    TABLES,
    game_of,
    judged,
    judged_under,
    opening,
    random_variant,
)
from processes import ROOT, python, running
from referee import Refutation, check_record
from skyenv import Game, records
from skyenv.arena import ladder
from skyenv.arena.benchmark import Parts
from skyenv.engine.openings import TASKS
from skyenv.errors import RecordError, SkyenvError
from skyenv.rules.board import load_board
from skyenv.solving.equilibrium import Solver
from skyenv.solving.tree import Opening
from skyenv_agents.learned.networks import ABOUT, TRAINED, Network

FAILED: Final = "FAILED"
MOST_FAULTS: Final = 10  # of a kind
FOUND: Final = ROOT / "tests" / "cases" / "found"


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    Attributes:
        make: makes one.
        check: tries one, with an empty folder to write to; returns what became of it. Whatever it
            raises is a fault.
    """

    make: Callable[[random.Random], bytes]
    check: Callable[[bytes, Path], str]


def taken(read: Callable[[], object], error: type[Exception] = SkyenvError) -> str:
    """Whether an input is taken, or refused by an error of one short line."""
    try:
        read()
    except error as refusal:
        told = str(refusal)
    else:
        return "taken"
    assert 0 < len(told) < 700, told
    assert "\n" not in told, told
    return "refused"


# ---- damage ----

ODD_NUMBERS: Final = (b"-1", b"0", b"1e308", b"9" * 30, b"NaN", b"null", b"0.5", b"[]", b"true")
POOL: Final[list[Any]] = [
    *(None, True, 0, 1, 4, -1, 7, "green", "sixth", "boutique", "TSQ", "pass", "", "random"),
    *([], {}, [4], [4, 4]),
]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Content with up to three changes of bytes."""
    for _ in range(rng.randint(1, 3)):
        first = rng.randrange(len(content) + 1)
        last = min(len(content), first + rng.choice((1, 1, 8, 100, 10_000)))
        part = content[first:last]
        odd = re.sub(rb"\d+", rng.choice(ODD_NUMBERS), part, count=1)
        flipped = bytes([part[0] ^ 1 << rng.randrange(8)]) + part[1:] if part else b""
        changes = (b"", part * 2, bytes(len(part)), rng.randbytes(len(part)), odd, flipped)
        content = content[:first] + rng.choice(changes) + content[last:]
    return content


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a JSON value with each of its indices."""
    keys = list(value) if type(value) is dict else range(len(value) if type(value) is list else 0)
    for index in keys:
        yield value, index
        yield from places_in(value[index])


def change_value(value: Any, rng: random.Random) -> None:
    """Change something in a JSON value."""
    container, place = rng.choice(list(places_in(value)) or [([0], 0)])
    kind = rng.random()
    if kind < 0.15:
        del container[place]
    elif kind < 0.6 and type(container[place]) is int:
        container[place] += rng.choice([-1, 1])
    else:
        container[place] = copy.deepcopy(rng.choice(POOL))


def change_lines(text: str, rng: random.Random) -> bytes:
    """A record with a change in one of its lines, or of its order."""
    lines = [json.loads(line) for line in text.splitlines()]
    index = rng.randrange(len(lines)) if rng.random() < 0.9 else rng.randrange(2)
    kind = rng.random()
    if kind < 0.1:
        del lines[index]
    elif kind < 0.2:
        lines.insert(rng.randrange(len(lines) + 1), lines[index])
    elif kind < 0.3:
        lines.insert(index, lines.pop(rng.randrange(len(lines))))
    else:
        change_value(lines[index], rng)
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


# ---- records ----


@cache
def record(number: int) -> str:
    """A record of a short game, of a task for odd numbers."""
    if number % 2:
        game = Game(task=[*TASKS][number % len(TASKS)], seed=number)
    else:
        game = game_of(TABLES[number % len(TABLES)], number, 12)
    judged(game, AGENTS[number % len(AGENTS)])
    return game.to_record()


def wrong_line(check: Callable[[Any], object], source: Any) -> int | None:
    """The line that a check blames; None if it finds nothing wrong."""
    try:
        check(source)
    except (RecordError, Refutation) as error:
        return error.line or 0
    return None


def check_lines(content: bytes, folder: Path) -> str:
    """Verification and the referee blame the same line; but a header may break limits that are no
    rules, and verification reads on where a game has no end.
    """
    lines = content.decode().splitlines()
    is_task = b"skyenv-task-record" in content
    referee = partial(check_record, opening=opening) if is_task else check_record
    blamed, wrong = wrong_line(records.verify, io.BytesIO(content)), wrong_line(referee, lines)
    headers = {number for number, line in enumerate(lines, 1) if '"version"' in line}
    assert blamed == wrong or not headers.isdisjoint((blamed, wrong)), (blamed, wrong)
    return "refused" if blamed else "taken"


def check_bytes(content: bytes, folder: Path) -> str:
    """A record's bytes."""
    return taken(lambda: records.verify(io.BytesIO(content)), RecordError)


# ---- other files ----

RINGS: Final = b"""[rings]
TSQ = ["green", "brown", "violet", "orange", "gray"]
W34 = ["gray", "brown", "violet", "orange", "green"]
"""
FILE: Final = "file"


def reading(read: Callable[[Path], object]) -> Callable[[bytes, Path], str]:
    """Return a check of files that are read."""

    def check(content: bytes, folder: Path) -> str:
        (folder / FILE).write_bytes(content)
        return taken(lambda: read(folder / FILE))

    return check


def play_on_board(path: Path) -> None:
    """A board that is taken can be played on."""
    judged(Game(2, "front", seed=1, board=load_board(path, "front"), max_turns=1), "random")


def check_variant(content: bytes, folder: Path) -> str:
    """The text of a variant; no more than its reading, in a process of its own."""
    (folder / FILE).write_bytes(content)
    environment = {"SKYENV_VARIANT": str(folder / FILE), "NUMBA_DISABLE_JIT": "1"}
    done = python("-c", "import skyenv.rules.components", environment=environment)
    told = done.stderr.splitlines()
    assert (done.returncode, len(told)) in ((0, 0), (1, 1)), done.stderr
    assert not told or told[0].startswith("skyenv: error: SKYENV_VARIANT: "), told
    return "refused" if told else "taken"


@cache
def solver() -> Solver:
    """A solver of a small tree, after some iterations."""
    solving = Solver(Opening("duel-3/0").tree)
    solving.run(3)
    return solving


def solution() -> bytes:
    """A stored solution."""
    with tempfile.TemporaryDirectory() as folder:
        solver().save(Path(folder, FILE))
        return Path(folder, FILE).read_bytes()


def network(rng: random.Random) -> bytes:
    """A network with a changed array or a changed description, or damaged bytes."""
    whole = (TRAINED / "2-players.npz").read_bytes()
    if rng.random() < 0.5:
        return damaged(whole, rng)
    with np.load(io.BytesIO(whole)) as content:
        arrays = dict(content)
    name = rng.choice([*arrays])
    if name == ABOUT or rng.random() < 0.3:
        about = json.loads(str(arrays[ABOUT]))
        change_value(about, rng)
        arrays[ABOUT] = np.array(json.dumps(about))
    else:
        other = (np.nan, np.inf, 60_000.0, -60_000.0, 0.0)
        changed = np.full_like(arrays[name], rng.choice(other))
        arrays[name] = rng.choice(
            (changed, changed.view(np.int16), changed[None], changed.ravel()[:-1])
        )
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def play_network(path: Path) -> None:
    """A network that is taken tells finite numbers."""
    game = Game(2, seed=1)
    logits, value = Network.load(path)(game.observation(0)[None])
    assert np.isfinite(logits).all()
    assert value is None or np.isfinite(value).all()


def read_parts(path: Path) -> None:
    """The figures of a benchmark."""
    (path.parent / "random").mkdir()
    path.rename(path.parent / "random" / "parts.json")
    Parts(path.parent, "random")


@cache
def parts() -> bytes:
    """A benchmark's stored figures."""
    with tempfile.TemporaryDirectory() as folder:
        Parts(Path(folder), "random").of("cost", lambda: [1.0, 2.0])
        return Path(folder, "random", "parts.json").read_bytes()


# ---- games ----

DECIDED: Final = Counter[str]()
"""The special branches that the games took, and the number of their decisions."""


def described(**fields: Any) -> bytes:
    """An input of JSON."""
    return json.dumps(fields).encode()


def check_game(content: bytes, folder: Path) -> str:
    """A game at a table, or of a task."""
    given = json.loads(content)
    seed, agent = given["seed"], given["agent"]
    if "task" in given:
        game = Game(task=given["task"], seed=seed)
    else:
        game = game_of(tuple(given["table"]), seed, 120)
    DECIDED.update(judged(game, agent))
    return "judged"


def check_variant_game(content: bytes, folder: Path) -> str:
    """Games of a variant."""
    given = json.loads(content)
    DECIDED.update(judged_under(given["variant"], given["seed"]))
    return "judged"


# ---- the page ----

PATHS: Final = (
    *("/", "/rules", "/tutorial", "/api/options", "/api/games", "/api/replays", "/library"),
    *("/api/library", "/api/library/state", "/api/ladders", "/static/table.js", "/seat/{token}"),
    *(f"/api/seats/{{token}}{end}" for end in ("", "/hint", "/words", "/record", "/act", "/undo")),
    *(f"/api/seats/{{token}}/{end}" for end in ("claim", "release", "pause", "next", "lift")),
    *(f"/api/seats/{{token}}/{end}" for end in ("replay", "rematch", "lesson/back", "people")),
    *("/api/replays/{replay}", "/api/replays/{replay}/record", "/api/replays/{replay}/1"),
    *(f"/api/replays/{{replay}}/1/{end}" for end in ("made", "made/file", "3", "3/hint")),
    *(f"/api/replays/{{replay}}/1/3/{end}" for end in ("picture.svg", "variations", "chances")),
    *("/api/replays/{replay}/1/analysis", "/api/replays/{replay}/1/3/playouts"),
)
BODY: Final = {
    **{"players": 2, "side": "front", "seats": ["me", "agent:random"], "max_turns": 3, "seed": 1},
    **{"actions": [13], "step": 0, "seconds": 1, "agent": "agent:random", "names": ["a", "b"]},
}
METHODS: Final = (*["GET", "POST"] * 8, "DELETE", "PUT", "HEAD", "OPTIONS")


class Site:
    """The page on a real port, with a game and a replay of a browser.

    Attributes:
        client: the browser.
        cookie: its name.
        known: its game's seat and its replay.
        stranger: another client, which forgets all cookies.
    """

    def __init__(self, held: ExitStack) -> None:
        from pages import Client, RunningServer, begin, make_app  # other kinds need no web server

        server = RunningServer(make_app())
        held.callback(server.stop)
        self.client, self.stranger = (
            held.enter_context(Client(base_url=server.address, timeout=120)) for _ in range(2)
        )
        seat = begin(self.client, ["me", "agent:random"])
        replay = self.client.post("/api/replays", content=record(2)).json()["page"]
        self.cookie: str = self.client.cookies["skyenv_browser"]
        self.known = {"token": seat.rpartition("/")[2], "replay": replay.rpartition("/")[2]}


HELD: Final = ExitStack()
site: Final = cache(lambda: Site(HELD))


def request(rng: random.Random) -> bytes:
    """A request: a route with odd parts, a body and a cookie."""
    path, body = rng.choice(PATHS), json.loads(json.dumps(BODY))
    for _ in range(rng.randrange(3)):
        change_value(body, rng)
    raw = json.dumps({name: body[name] for name in body if rng.random() < 0.7}).encode()
    if rng.random() < 0.3:
        raw = damaged(rng.choice((raw, record(2).encode())), rng)
    cookie = rng.choice((*["skyenv_browser={cookie}"] * 4, "", "skyenv_browser=x; a=b"))
    if rng.random() < 0.1:
        path = damaged(path.encode(), rng).decode("latin-1")
        path = "".join(c for c in path if c not in "?#" and " " < c < "\x7f") or "/"
    query = rng.choice(("", "", "?page=-1", "?file=../../etc/passwd&step=NaN", "?" + "a" * 3000))
    asked = {"path": path, "query": query, "method": rng.choice(METHODS), "cookie": cookie}
    return described(**asked, forged=rng.random() < 0.2, body=raw.decode("latin-1"))


def check_request(content: bytes, folder: Path) -> str:
    """Every answer is one of the page's; the browser's own game stays as it is."""
    there, given = site(), json.loads(content)
    path = given["path"]
    for name, known in there.known.items():
        path = path.replace(f"{{{name}}}", known)
    own = there.cookie.encode()
    forged = damaged(own, random.Random(content)) if given["forged"] else own
    cookie = given["cookie"].replace("{cookie}", forged.decode("latin-1"))
    headers = {"cookie": re.sub(r"[^\x20-\x7e]", "?", cookie).strip()}  # as clients send them
    url = f"/{path.lstrip('/')}" + given["query"]
    own_game = f"/api/seats/{there.known['token']}"
    if given["method"] == "DELETE" and there.known["token"] in url:
        return "left out"
    there.stranger.cookies.clear()
    answer = there.stranger.request(
        given["method"], url, content=given["body"].encode("latin-1"), headers=headers
    )
    assert answer.status_code < 500 or answer.status_code == 503, answer.text
    assert "Traceback" not in answer.text
    if there.client.get(own_game).status_code == 403:  # released
        there.client.post(f"{own_game}/claim")
    assert there.client.get(own_game).status_code == 200
    return str(answer.status_code)


# ---- killed programs ----


def kill(rng: random.Random) -> bytes:
    """A long program, and the time after which it gets a signal."""
    from test_long_work import WORKS

    name = rng.choice([*WORKS])
    kind = rng.choice(WORKS[name].signals)
    return described(work=name, signal=kind, after=round(rng.uniform(0.5, 12.0), 2))


@cache
def whole(name: str) -> Any:
    """The result of an undisturbed run."""
    from test_long_work import WORKS

    work = WORKS[name]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, FILE)  # datasets have its name inside
        folder.mkdir()
        ran = python("-m", work.module, *work.asked(work.words, folder))
        assert ran.returncode == 0, ran.stderr
        return work.result(folder)


def check_kill(content: bytes, folder: Path) -> str:
    """What has been killed goes on, to the result of an undisturbed run."""
    from test_long_work import WORKS, filled

    given, folder = json.loads(content), folder / FILE
    folder.mkdir()
    work, begun = WORKS[given["work"]], folder / WORKS[given["work"]].begun
    words = work.asked(work.words, folder)
    with running("-m", work.module, *words, start_new_session=True) as process:
        time.sleep(given["after"])
        with suppress(ProcessLookupError):
            os.killpg(process.pid, given["signal"])
        _, complaint = process.communicate()
    if not any(folder.iterdir()):  # Python was still importing
        return "not begun"
    assert "Traceback" not in complaint, complaint
    on = python("-m", work.module, *work.asked(work.resume, folder))
    if on.returncode != 0 and not filled(begun):
        return "nothing stored"
    assert on.returncode == 0, on.stderr
    assert work.result(folder) == whole(given["work"])
    return "ended" if process.returncode == 0 else "killed"


# ---- the farm ----


KINDS: Final = {
    "records": Kind(lambda rng: change_lines(record(rng.randrange(80)), rng), check_lines),
    "record-bytes": Kind(lambda rng: damaged(record(rng.randrange(80)).encode(), rng), check_bytes),
    "boards": Kind(partial(damaged, RINGS), reading(play_on_board)),
    "variant-texts": Kind(
        lambda rng: damaged(random_variant(rng.randrange(10**6)).encode(), rng), check_variant
    ),
    "ladders": Kind(
        lambda rng: damaged(ladder.path_of(2, "front").read_bytes(), rng), reading(ladder.read)
    ),
    "parts": Kind(lambda rng: damaged(parts(), rng), reading(read_parts)),
    "solutions": Kind(lambda rng: damaged(solution(), rng), reading(solver().load)),
    "networks": Kind(network, reading(play_network)),
    "games": Kind(
        lambda rng: described(
            table=rng.choice(TABLES), seed=rng.getrandbits(60), agent=rng.choice(AGENTS)
        ),
        check_game,
    ),
    "tasks": Kind(
        lambda rng: described(
            task=rng.choice([*TASKS]), seed=rng.getrandbits(60), agent=rng.choice(AGENTS)
        ),
        check_game,
    ),
    "variants": Kind(
        lambda rng: described(
            variant=random_variant(rng.randrange(10**9)), seed=rng.randrange(10**6)
        ),
        check_variant_game,
    ),
    "requests": Kind(request, check_request),
    "kills": Kind(kill, check_kill),
}
"""By name."""


def attempt(name: str, content: bytes) -> str:
    """What becomes of an input of a kind."""
    with tempfile.TemporaryDirectory() as folder:
        return KINDS[name].check(content, Path(folder))


def attempt_or_keep(name: str, content: bytes, number: str) -> str:
    """What becomes of an input; one that fails is kept under its number."""
    try:
        return attempt(name, content)
    except Exception:
        FOUND.mkdir(exist_ok=True)
        path = FOUND / f"{name}.{number}"
        path.write_bytes(content)
        print(f"{path}:\n{traceback.format_exc(limit=-3)}", flush=True)
        return FAILED


def farm(minutes: float, names: list[str], seed: int) -> int:
    """Make inputs of kinds by turns, as many as fit in equal times; return the number of faults.
    A kind with many faults is left out; Ctrl-C ends it.
    """
    end, counts = time.monotonic() + 60 * minutes, {name: Counter[str]() for name in names}
    going = names
    with suppress(KeyboardInterrupt):
        while going and time.monotonic() < end:
            for name in going:
                until = min(end, time.monotonic() + 5)
                while time.monotonic() < until and counts[name][FAILED] < MOST_FAULTS:
                    number = counts[name].total()
                    content = KINDS[name].make(random.Random(f"{seed} {name} {number}"))
                    counts[name][attempt_or_keep(name, content, f"{seed}-{number}")] += 1
            going = [name for name in going if counts[name][FAILED] < MOST_FAULTS]
    for name, outcomes in counts.items():
        print(f"{name}: {outcomes.total()}", dict(sorted(outcomes.items())))
    return sum(outcomes[FAILED] for outcomes in counts.values())


def main(words: list[str]) -> int:
    """Run the farm."""
    names = words[1:] or [*KINDS]
    if unknown := set(names) - KINDS.keys():
        raise SystemExit(f"there are no kinds {unknown}; there are {', '.join(KINDS)}")
    with HELD:
        faults = farm(float(words[0]), names, seed=time.time_ns() % 10**6)
    print(f"{DECIDED[DECISIONS]} decisions judged, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    os.environ.update({"SKYENV_QUIET": "1", "OMP_NUM_THREADS": "1"})
    sys.exit(main(sys.argv[1:]))
