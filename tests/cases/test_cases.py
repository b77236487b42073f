"""Bug reports, of this project or others, each as a small named case."""

import multiprocessing
import signal
from pathlib import Path

import pytest

from crowd_games import played
from judging import judged_under
from processes import main_of, printed
from skyenv.arena import ladder
from skyenv.errors import CheckpointError
from skyenv.work import Interrupt

RECORD = played(turns=1, agent="random").to_record(["random", "random"])
LINES = RECORD.count("\n")
RECORDS = {
    "git on Windows ended the lines": (RECORD.replace("\n", "\r\n"), "1 game, "),
    "the disk was full in the last line": (RECORD[:-20], f"line {LINES}: no JSON object"),
    "files were joined without a line end": (RECORD[:-1] + RECORD, f"line {LINES}: no JSON object"),
    "an editor added an empty line": (RECORD + "\n", f"line {LINES + 1}: no JSON object"),
    "a table program wrote 0.0": (RECORD.replace('"seat": 0', '"seat": 0.0', 1), "0.0"),
    "a name stood twice": (RECORD.replace("{", '{"seed": 5, ', 1), "a name stands twice"),
    "the log was printed into it": (f"loading …\n{RECORD}", "line 1: no JSON object"),
    "another program's games": ('{"format": "chess"}\n', '"format" must be one of skyenv-record'),
    "a page was downloaded instead": ("<!DOCTYPE html>\n<html>", "line 1: no JSON object"),
    "zeros stood at the end after a crash": (RECORD + 50 * "\0", f"line {LINES + 1}: no JSON"),
}


@pytest.mark.parametrize("case", RECORDS)
def test_records_from_bug_reports(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, told = RECORDS[case]
    path = tmp_path / "games.jsonl"
    path.write_bytes(content.encode())
    code = main_of(f"verify {path}")
    output, complaint = capsys.readouterr()
    assert code == (not told.startswith("1 game"))
    assert told in (complaint if code else output)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"mean": 1', '"mean": 2', "its checksum is not that of its content"),
        ('"format": 5', '"format": 4', "format 4 instead of 5; repeat the command that made it"),
        ('"agents"', '"agent"', "checksum"),
    ],
    ids=["a rating was edited", "an earlier version wrote it", "a key was mistyped"],
)
def test_ladders_from_bug_reports(old: str, new: str, told: str, tmp_path: Path) -> None:
    path, content = tmp_path / "ladder.json", ladder.path_of(2, "front").read_text()
    assert old in content
    path.write_text(content.replace(old, new, 1))
    message = rf"ladder\.json is not a ladder, or is damaged: .*{told}"
    with pytest.raises(CheckpointError, match=message):
        ladder.read(path)


VARIANTS = {
    "Alea stopped districts with empty plots that were worth nothing": (
        "plot_value = [0, 0, 3, 5, 8]",
        "ALEA-6",
    ),
    "the last two skyscrapers could never be taken": ("skyscrapers_per_option = 5", "TURN-2"),
}


@pytest.mark.parametrize("case", VARIANTS)
def test_variants_from_bug_reports(case: str) -> None:
    changed, branch = VARIANTS[case]
    assert judged_under(f'name = "case"\nconstants = {{ {changed} }}\n')[branch]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs POSIX")
def test_an_ignored_sighup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupt() as interrupt:
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)  # which asks, as it isn't ignored
        assert interrupt.asked
        with Interrupt() as interrupt:
            signal.raise_signal(signal.SIGHUP)
        assert not interrupt.asked
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_evaluate_works_with_every_start_method_of_processes(method: str) -> None:
    program = (
        f"import multiprocessing; multiprocessing.set_start_method({method!r})\n"
        "from skyenv.arena.evaluate import evaluate\n"
        "if __name__ == '__main__':\n"
        "    (one,) = evaluate('random', ['hoard'], paired_seeds=2, max_turns=3, workers=1)\n"
        "    print(one.games)\n"
    )
    assert printed("-c", program) == "4\n"
