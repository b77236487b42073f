"""Would the tests notice a mistake in the rules? ``python -m experiments.tools.mutants --number 300
--out runs/mutants``.

Makes small mistakes in functions of ``skyenv/rules`` (:mod:`experiments.tools.mutation`), one at a
time, and lets each be judged until something objects (:mod:`experiments.tools.judge`): the tests of
the rules, the golden records, new games and the referee.

A mutant that nobody objects to is told with its line: a test is missing, or the mistake makes no
difference. Results stand in FOLDER/mutants.jsonl, a line each; the same command goes on where it
was stopped. `--again` judges the survivors once more.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from experiments.tools.judge import verdicts
from experiments.tools.mutation import RULES, Mutant, all_mutants
from skyenv.commands import INTERRUPTED, complain, exit_code
from skyenv.engine.thread_pool import cores
from skyenv.options import Options, option, parse
from skyenv.progress import progress


@dataclass(frozen=True)
class Plan(Options):
    """What is tried."""

    number: int = option(300, "mutants, drawn at random among all", low=1, high=10**6)
    seed: int = option(1, "seed of the draw")
    workers: int = option(cores(), "mutants judged at a time", low=1, high=1024)
    again: bool = option(False, "judge those again that nobody has noticed")
    out: Path = option(Path("runs/mutants"), "where results are written", metavar="FOLDER")


def judged(plan: Plan) -> dict[Mutant, str]:
    """The mutants of a plan and who notices them, "" if nobody does; those that FOLDER doesn't know
    yet are judged now.
    """
    chosen = all_mutants()
    random.Random(plan.seed).shuffle(chosen)
    chosen = chosen[: plan.number]
    plan.out.mkdir(parents=True, exist_ok=True)
    log = plan.out / "mutants.jsonl"
    lines = (
        [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        if log.exists()
        else []
    )
    caught = {Mutant(**line["mutant"]): line["caught"] for line in lines}
    left = [
        mutant
        for mutant in chosen
        if not (mutant in caught if not plan.again else caught.get(mutant))
    ]
    with (
        log.open("a", encoding="utf-8") as file,
        progress(len(chosen), "mutant", done=len(chosen) - len(left)) as bar,
    ):
        for mutant, objection in verdicts(left, plan.workers) if left else ():
            caught[mutant] = objection
            print(
                json.dumps({"mutant": asdict(mutant), "caught": objection}), file=file, flush=True
            )
            bar.update(1)
    return {mutant: caught[mutant] for mutant in chosen}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all right, 1 the rules as they are don't pass, 2
    the command is wrong.
    """

    def run() -> int:
        plan = parse(
            Plan,
            "experiments.tools.mutants",
            "Make mistakes in the rules and see who notices.",
            arguments,
        )
        try:
            caught = judged(plan)
        except KeyboardInterrupt:
            complain("mutants", "interrupted; the same command goes on")
            return INTERRUPTED
        missed = [mutant for mutant, objection in caught.items() if not objection]
        for mutant in missed:
            print(f"{RULES / mutant.file}:{mutant.line}: {mutant.before}  →  {mutant.after}")
        print(
            f"{len(caught) - len(missed)} of {len(caught)} mutants caught "
            f"({1 - len(missed) / len(caught):.1%})"
        )
        return 0

    return exit_code("mutants", run)


if __name__ == "__main__":
    sys.exit(main())
