"""Tables as text."""

from skyenv.console.tables import columns, counted, folded, latex, markdown

ROWS = [["agent", "wins", "VP"], ["greedy", "7", "12.5"], ["me", "100", ""]]


def test_counted_uses_the_singular_for_one() -> None:
    assert [counted(number, "game") for number in (0, 1, 1008)] == [
        "0 games",
        "1 game",
        "1,008 games",
    ]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert columns(ROWS).splitlines() == [
        "agent   wins    VP",
        "──────  ────  ────",
        "greedy     7  12.5",
        "me       100",
    ]
    assert columns(ROWS, left=3).splitlines()[3] == "me      100"
    assert columns(ROWS[:1]) == "agent  wins  VP\n─────  ────  ──"


def test_commands_fold_between_options() -> None:
    words = f"python -m skyenv evaluate {'a' * 25} --against 'b c'"
    assert folded(f"{words} --json {'d' * 60}").splitlines() == [
        f"{words} \\",
        f"    --json {'d' * 60}",
    ]


def test_tables_are_written_as_markdown() -> None:
    assert markdown(ROWS, "lrr").splitlines() == [
        "| agent | wins | VP |",
        "|---|---:|---:|",
        "| greedy | 7 | 12.5 |",
        "| me | 100 | |",
    ]
    assert markdown([["", "a"], ["x", "y"]]) == "| | a |\n|---|---|\n| x | y |"


def test_tables_are_written_as_latex() -> None:
    assert latex([["agent", "wins, %"], ["my_agent", "7"]]).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\hline",
        r"agent & wins, \% \\",
        r"\hline",
        r"my\_agent & 7 \\",
        r"\hline",
        r"\end{tabular}",
    ]
