"""A class of which every tenth submission is hostile: it is graded to its end, each rightly.

The attacks are those of `tests/hostile` that are after the machine: loops, sleeps, crashes, memory,
floods, forks. What each may cost follows from the limits of the assignment, and the whole class
must cost no more than its ordinary submissions and these bounds together.
"""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

from benchmarks import classes
from benchmarks.batches import graded, reports
from benchmarks.classes import ROOT, Answer
from benchmarks.measuring import Benchmark, Broken, Row, Wanted, cores
from grader.assignment import Assignment
from grader.model import Limits
from grader.sandbox.session import MOST_DEATHS, WALL_FACTOR, WALL_LEAST_S

ID = "hw1"
GALLERY = ROOT / "tests" / "hostile"
EVERY = 10
# Start-up and the end of the queue, where one judge waits for the other, are not in the bounds.
BUDGET = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """An attack, and what its report must say.

    Args:
        causes: one of them must be the cause of a lost test, or the kind of a problem. Several
            where it depends on the machine which limit is met first.
        bound: what limits its time: the processor time of its calls or of its load, the wall clock
            of its calls, or nothing, because it ends by itself.
    """

    name: str
    causes: frozenset[str]
    bound: Literal["calls", "load", "wall", "itself"]


KINDS = (
    Kind(name="endless_loop", causes=frozenset({"timeout"}), bound="calls"),
    Kind(name="endless_loop_while_loading", causes=frozenset({"timeout"}), bound="load"),
    Kind(name="exit_while_called", causes=frozenset({"exit"}), bound="itself"),
    Kind(name="crashes", causes=frozenset({"signal"}), bound="itself"),
    Kind(name="memory_at_once", causes=frozenset({"memory"}), bound="itself"),
    # Its pipe is emptied by the judge, so that it waits as often as it computes.
    Kind(name="output_flood", causes=frozenset({"timeout"}), bound="wall"),
    Kind(name="recursion", causes=frozenset({"memory", "signal", "timeout"}), bound="calls"),
    Kind(name="sleeps", causes=frozenset({"timeout"}), bound="wall"),
    Kind(name="fork_bomb", causes=frozenset({"raised", "exit"}), bound="itself"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """Who handed in what, by student; a hostile answer has a kind."""

    answers: Mapping[str, Answer]
    kinds: Mapping[str, Kind]


def benchmarks() -> Iterator[Benchmark]:
    """One."""
    about = f"a class with every {EVERY}th submission hostile, against what the limits explain"
    yield Benchmark(name="hostile-class", about=about, run=_run)


def made(folder: Path, count: int) -> Class:
    """A class below `folder`: the gallery of hw1, and in every tenth place an attack."""
    kinds, ordinary = cycle(KINDS), cycle(classes.gallery(classes.known()[ID]))
    chosen: list[Kind | None] = [
        next(kinds) if number % EVERY == EVERY // 2 else None for number in range(count)
    ]
    answers = [next(ordinary) if kind is None else _attack(kind) for kind in chosen]
    handed_in = classes.written(folder, ID, answers, count)
    pairs = zip(handed_in, chosen, strict=True)
    return Class(
        answers=handed_in,
        kinds={student: kind for student, kind in pairs if kind is not None},
    )


def _attack(kind: Kind) -> Answer:
    text = (GALLERY / f"{kind.name}.py").read_text("utf-8")
    return Answer(name=kind.name, text=text, score=0)


# --- what the reports must say -----------------------------------------------------------------


def wrong(found: Sequence[Mapping[str, Any]], handed_in: Class) -> list[str]:
    """A line for each report that is missing or not what it must be."""
    by_student = {each["submission"]["student"]: each for each in found}
    lines = [
        f"{student} ({handed_in.answers[student].name}): no report"
        for student in handed_in.answers
        if student not in by_student
    ]
    for student, report in by_student.items():
        answer, kind = handed_in.answers[student], handed_in.kinds.get(student)
        told = f"{student} ({answer.name})"
        if (report["status"], report["score"]) != ("graded", answer.score):
            lines.append(f"{told}: {report['status']} with {report['score']} of {answer.score}")
        if kind is not None and kind.causes.isdisjoint(_causes(report)):
            lines.append(f"{told}: {sorted(_causes(report))} instead of {sorted(kind.causes)}")
    return lines


def _causes(report: Mapping[str, Any]) -> set[str]:
    tests = {each["cause"] for each in report["tests"] if each["cause"] is not None}
    return tests | {each["kind"] for each in report["problems"]}


# --- what it may cost --------------------------------------------------------------------------


def bound_s(kind: Kind, limits: Limits, ordinary_s: float) -> float:
    """Seconds that the limits allow such a submission.

    A call that has to be stopped costs a life, and there are three: then nothing is called again.
    """
    match kind.bound:
        case "calls":
            stopped = min(limits.total_s, MOST_DEATHS * limits.call_s)
        case "load":
            stopped = limits.load_s
        case "wall":
            stopped = MOST_DEATHS * max(WALL_LEAST_S, WALL_FACTOR * limits.call_s)
        case "itself":
            stopped = 0.0
    # A replacement worker costs about what a whole ordinary submission does.
    return stopped + MOST_DEATHS * ordinary_s


def _run(wanted: Wanted) -> list[Row]:
    count = 1000 if wanted.full else 100
    handed_in = made(wanted.folder / "class", count)
    out = wanted.folder / "out"
    batch = graded(wanted.folder / "class", out, "--assignment", ID, jobs=cores())
    found = [json.loads(path.read_bytes()) for path in reports(out)]
    if problems := wrong(found, handed_in):
        raise Broken("\n".join(["not what the reports must say:", *problems]))
    seen = costs(found, handed_in, classes.known()[ID])
    print(*map(_line, seen), sep="\n")
    explained_s = sum(each["bound_s"] * each["count"] for each in seen)
    return [
        Row(
            name="hostile-class",
            ratio=batch.wall_s * batch.jobs / explained_s,
            budget=BUDGET,
            measured_ms=batch.wall_s * batch.jobs / count * 1000,
            yardstick_ms=explained_s / count * 1000,
            note=f"{count}, {len(handed_in.kinds)} hostile, all rightly, in {batch.wall_s:.0f} s",
            figures={"kinds": seen, "wall_s": round(batch.wall_s, 1), "jobs": batch.jobs},
        )
    ]


def costs(
    found: Sequence[Mapping[str, Any]], handed_in: Class, assignment: Assignment
) -> list[dict[str, Any]]:
    """For each kind: how many, what one took, and what the limits allow it."""
    by_kind: dict[Kind | None, list[Mapping[str, Any]]] = {}
    for report in found:
        kind = handed_in.kinds.get(report["submission"]["student"])
        by_kind.setdefault(kind, []).append(report["run"])
    ordinary_s = statistics.median(each["duration_s"] for each in by_kind[None])
    return [
        {
            "kind": "ordinary" if kind is None else kind.name,
            "count": len(runs),
            "median_s": statistics.median(each["duration_s"] for each in runs),
            "most_s": max(each["duration_s"] for each in runs),
            "cpu_s": statistics.median(each["usage"]["cpu_s"] for each in runs),
            "bound_s": round(_allowed_s(kind, assignment.limits, runs, ordinary_s), 3),
        }
        for kind, runs in by_kind.items()
    ]


def _allowed_s(
    kind: Kind | None, limits: Limits, runs: Sequence[Mapping[str, Any]], ordinary_s: float
) -> float:
    if kind is None:
        return statistics.mean(each["duration_s"] for each in runs)
    return bound_s(kind, limits, ordinary_s)


def _line(cost: Mapping[str, Any]) -> str:
    return (
        f"    {cost['kind']:28} {cost['count']:5} of {cost['median_s']:7.2f} s"
        f" (at most {cost['most_s']:.2f} s), processor {cost['cpu_s']:.2f} s;"
        f" the limits explain {cost['bound_s']:.2f} s"
    )
