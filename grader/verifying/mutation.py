"""The mutants of a reference against its suite, and `equivalent_mutants.toml`.

That file belongs to the staff edition. It lists mutants that are no mistakes:

    [[equivalents]]
    old = "is_padding = attention_mask == 0"
    new = "is_padding = attention_mask <= 0"
    reason = "A mask holds only 0 and 1."

`line` (of reference.py) narrows an entry down where the same change is possible on several
lines. An entry that no surviving mutant fits is wrong: it was killed, or the line has changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.assignment import Assignment
from grader.model import Text
from grader.strict import Value, read_toml
from grader.verifying import answers
from grader.verifying.bench import Job
from grader.verifying.mutants import Mutant, mutants
from grader.verifying.records import Marks, Row, Survivor
from grader.verifying.rows import row, said

FILE: Final = "equivalent_mutants.toml"
_MOST_LINES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalent:
    """A mutant that computes the same, and why."""

    old: str
    new: str
    reason: str
    line: int | None = None

    def fits(self, mutant: Mutant) -> bool:
        return (
            mutant.old == self.old and mutant.new == self.new and self.line in (None, mutant.line)
        )


def read_equivalents(folder: Path, problems: list[str]) -> tuple[Equivalent, ...]:
    """The list in `folder`; empty where there is none.

    Args:
        problems: where to write what is wrong.
    """
    paper = read_toml(folder / FILE, problems) if (folder / FILE).is_file() else None
    part = paper.keys(required=("equivalents",)) if paper is not None else {}
    return tuple(_equivalent(item) for item in part["equivalents"].items()) if part else ()


def _equivalent(item: Value) -> Equivalent:
    part = item.keys(required=("old", "new", "reason"), optional=("line",))
    return Equivalent(
        old=part["old"].text() if "old" in part else "",
        new=part["new"].text() if "new" in part else "",
        reason=part["reason"].text() if "reason" in part else "",
        line=part["line"].integer(least=1, most=_MOST_LINES) if "line" in part else None,
    )


def made(assignment: Assignment) -> tuple[Mutant, ...]:
    """The mutants of the reference; none where it is missing or no Python."""
    try:
        return mutants((assignment.folder / "reference.py").read_text("utf-8-sig"))
    except (OSError, ValueError, SyntaxError):
        return ()


def jobs(made: Sequence[Mutant], assignment: Assignment, seeds: tuple[int, ...]) -> list[Job]:
    return [
        Job(
            reading=answers.in_text("mutant", each.text, assignment).reading,
            assignment=assignment,
            seeds=seeds,
            until_lost=True,
        )
        for each in made
    ]


def survivors(
    made: Sequence[Mutant],
    marks: Sequence[Sequence[Marks]],
    equivalents: Sequence[Equivalent],
) -> tuple[Survivor, ...]:
    """The mutants that earned everything on every seed, with the reason that allows it."""
    alive = [
        mutant
        for mutant, seen in zip(made, marks, strict=True)
        if all(each.complete for each in seen)
    ]
    return tuple(Survivor(mutant=each, reason=_reason(each, equivalents)) for each in alive)


def _reason(mutant: Mutant, equivalents: Sequence[Equivalent]) -> str | None:
    return next((each.reason for each in equivalents if each.fits(mutant)), None)


def judged(
    made: Sequence[Mutant],
    found: Sequence[Survivor],
    equivalents: Sequence[Equivalent],
    problems: Sequence[str],
) -> Row:
    """Whether every mutant was killed or is listed with a reason, and the list is right."""
    wrong = [said("problem", problem=each) for each in problems]
    wrong += [_stale(each, made) for each in equivalents if not _alive(each, found)]
    if wrong:
        return row("mutants", wrong)
    unexplained = [said("survivor", **_diff(each.mutant)) for each in found if each.reason is None]
    fine = said("mutants_ok", killed=len(made) - len(found), made=len(made), listed=len(found))
    return row("mutants", unexplained, fine, worst="warning")


def _alive(equivalent: Equivalent, found: Sequence[Survivor]) -> bool:
    return any(equivalent.fits(each.mutant) for each in found)


def _stale(equivalent: Equivalent, made: Sequence[Mutant]) -> Text:
    code = "killed" if any(equivalent.fits(each) for each in made) else "unknown"
    return said(f"equivalent_{code}", old=equivalent.old, new=equivalent.new)


def _diff(mutant: Mutant) -> dict[str, int | str]:
    return {"line": mutant.line, "old": mutant.old, "new": mutant.new}
