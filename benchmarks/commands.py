"""Commands that people wait for, and submissions that fail, against what they are measured by."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import classes
from benchmarks.batches import grade_command
from benchmarks.measuring import Benchmark, Broken, Pair, Row, Wanted, paired
from grader import submission
from grader.assignment import Assignment
from grader.grading import Judge, Settings
from grader.model import EntryPoint, Reading

WARM_ROUNDS = 8
ID = "hw1"


def benchmarks() -> Iterator[Benchmark]:
    """The commands first, then failing submissions of each assignment."""
    yield Benchmark(
        name="check", about='`grade check` against `python -c "import torch"`', run=_check
    )
    yield Benchmark(
        name="help", about='`grade --help` against `python -c "import click"`', run=_help
    )
    yield Benchmark(name="list", about='`grade list` against `python -c "import click"`', run=_list)
    for each in classes.known().values():
        yield Benchmark(
            name=f"failing-{each.id}",
            about=f"`grade check` of a {each.id} that earns nothing against one that earns all",
            run=_failing(each),
        )
        yield Benchmark(
            name=f"failing-warm-{each.id}",
            about="the same in a judge that is warm",
            run=_failing_warm(each),
        )


def _check(wanted: Wanted) -> list[Row]:
    right, _ = _files(classes.known()[ID], wanted.folder)
    pair = Pair(
        name="check",
        budget=1.5,
        measured=_command(grade_command(), "check", right),
        yardstick=_command(sys.executable, "-c", "import torch"),
    )
    return [paired(pair, wanted)]


def _help(wanted: Wanted) -> list[Row]:
    return [_against_click("help", "--help", wanted)]


def _list(wanted: Wanted) -> list[Row]:
    return [_against_click("list", "list", wanted)]


def _against_click(name: str, word: str, wanted: Wanted) -> Row:
    pair = Pair(
        name=name,
        budget=3.0,
        measured=_command(grade_command(), word),
        yardstick=_command(sys.executable, "-c", "import click"),
        pairs=15,
    )
    return paired(pair, wanted)


def _failing(each: Assignment) -> Callable[[Wanted], list[Row]]:
    def run(wanted: Wanted) -> list[Row]:
        right, wrong = _files(each, wanted.folder)
        pair = Pair(
            name=f"failing-{each.id}",
            budget=1.5,
            measured=_command(grade_command(), "check", wrong, codes=(1,)),
            yardstick=_command(grade_command(), "check", right),
            pairs=5,
        )
        return [paired(pair, wanted)]

    return run


def _failing_warm(each: Assignment) -> Callable[[Wanted], list[Row]]:
    def run(wanted: Wanted) -> list[Row]:
        right, wrong = _files(each, wanted.folder)
        with Judge.start(Settings()) as judge:
            pair = Pair(
                name=f"failing-warm-{each.id}",
                budget=1.5,
                measured=_graded(judge, each, wrong, "none"),
                yardstick=_graded(judge, each, right, "all"),
                pairs=10,
            )
            return [paired(pair, wanted, per=WARM_ROUNDS)]

    return run


def _command(*words: str | Path, codes: Sequence[int] = (0,)) -> Callable[[], object]:
    """Runs a command to its end; another exit code stops the benchmark."""

    def run() -> None:
        done = subprocess.run(words, capture_output=True, check=False)
        if done.returncode not in codes:
            raise Broken(f"{words} ended with {done.returncode}:\n{done.stderr.decode()}")

    return run


def _graded(judge: Judge, each: Assignment, file: Path, expected: str) -> Callable[[], object]:
    """Grades a file some times in the warm judge."""
    reading: Reading = submission.understand(submission.read(file))

    def run() -> None:
        for _ in range(WARM_ROUNDS):
            report = judge.grade(reading, each)
            earned = {"all": report["max_score"], "none": 0}[expected]
            if report["score"] != earned:
                raise Broken(f"{file.name}: score {report['score']} instead of {earned}")

    return run


def _files(each: Assignment, folder: Path) -> tuple[Path, Path]:
    """A submission that earns everything, and one of the right shape that earns nothing."""
    right, wrong = folder / f"{each.id}_right.py", folder / f"{each.id}_wrong.py"
    right.write_bytes((each.folder / "reference.py").read_bytes())
    functions = [_wrong(entry) for entry in each.entry_points]
    wrong.write_text("\n\n".join(["import torch", *functions]) + "\n", "utf-8")
    return right, wrong


def _wrong(entry: EntryPoint) -> str:
    value = "12345.0" if entry.result.kind == "number" else "args[0] + 7.0"
    return f"def {entry.name}(*args, **kwargs):\n    return {value}"
