"""Classes to grade, made of the galleries: every score in them is known beforehand.

Each submission ends in a comment with its student, so that no two files are equal and nothing can
be graded once for two students.
"""

import ast
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from grader import assignment as assignments
from grader.assignment import Assignment

ROOT = Path(__file__).resolve().parent.parent
ASSIGNMENTS = ROOT / "assignments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A solution, and the points that it earns."""

    name: str
    text: str
    score: int


def known() -> Mapping[str, Assignment]:
    """The checkout's assignments by id."""
    return {each.id: each for each in assignments.find_all(ASSIGNMENTS, {})}


def gallery(assignment: Assignment) -> tuple[Answer, ...]:
    """The accepted styles and misconceptions of an assignment, with what each earns.

    About as many right as wrong ones follow each other: a class is of both.
    """
    right, wrong = accepted(assignment), _misconceptions(assignment)
    turns = max(len(right), len(wrong))
    pairs = zip(islice(cycle(right), turns), islice(cycle(wrong), turns), strict=True)
    return tuple(answer for pair in pairs for answer in pair)


def accepted(assignment: Assignment) -> tuple[Answer, ...]:
    """The styles that earn everything."""
    total = sum(each.points for each in assignment.criteria)
    return tuple(
        Answer(name=path.stem, text=path.read_text("utf-8"), score=total)
        for path in sorted((assignment.folder / "gallery" / "accepted").glob("*.py"))
    )


def _misconceptions(assignment: Assignment) -> tuple[Answer, ...]:
    points = {each.id: each.points for each in assignment.criteria}
    prices = tomllib.loads((assignment.folder / "misconceptions.toml").read_text("utf-8"))
    folder = assignment.folder / "gallery" / "misconceptions"
    return tuple(
        Answer(
            name=each["id"],
            text=(folder / f"{each['id']}.py").read_text("utf-8"),
            score=sum(points[criterion] for criterion in each["earns"]),
        )
        for each in prices["misconceptions"]
    )


def written(
    folder: Path,
    assignment: str,
    answers: Sequence[Answer],
    count: int,
    form: Callable[[str], str] = str,
    suffix: str = ".py",
) -> dict[str, Answer]:
    """A folder per student below `folder`; whose answer is which, by student.

    Args:
        answers: used in turn until there are `count`.
        form: what becomes of the text of a submission before it is written.
    """
    handed_in: dict[str, Answer] = {}
    for number, answer in enumerate(islice(cycle(answers), count)):
        student = f"student{number:06}"
        file = folder / student / f"{assignment}{suffix}"
        file.parent.mkdir(parents=True)
        file.write_text(form(f"{answer.text}\n# {student}\n"), "utf-8")
        handed_in[student] = answer
    return handed_in


def notebook(text: str) -> str:
    """The same code as a notebook: a cell for each statement at the top level."""
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": part,
        }
        for number, part in enumerate(_statements(text))
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    )


def _statements(text: str) -> Iterator[str]:
    """The text in as many pieces as it has statements; comments stay with what follows them."""
    lines = text.splitlines(keepends=True)
    begin = 0
    for statement in ast.parse(text).body:
        end = statement.end_lineno or begin
        yield "".join(lines[begin:end]).strip("\n")
        begin = end
    if rest := "".join(lines[begin:]).strip("\n"):
        yield rest


def scores(out: Path) -> dict[str, int | None]:
    """What a batch gave, by student."""
    found = (json.loads(path.read_bytes()) for path in (out / "reports").glob("*/*.json"))
    return {each["submission"]["student"]: each["score"] for each in found}
