"""What a verification found: rows with a verdict, prices, surviving mutants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Literal

from grader.model import Json, Text, Visibility
from grader.verifying.mutants import Mutant

RowVerdict = Literal["ok", "warning", "failed"]
# In the order of the table.
Check = Literal[
    "files",
    "rubric",
    "translations",
    "stored_values",
    "diagnosis",
    "reference",
    "limits",
    "accepted",
    "template",
    "trivial",
    "misconceptions",
    "hints",
    "shown_tests",
    "suite",
    "determinism",
    "capability",
    "mutants",
]
STATES: tuple[RowVerdict, ...] = ("ok", "warning", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that was checked; `details` say what was seen, or each thing that is wrong."""

    check: Check
    verdict: RowVerdict
    details: tuple[Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a misconception earns, on the first seed."""

    id: str
    title: Text
    points: int
    criteria: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A mutant that earned all points; `reason` says why it may, where one is given."""

    mutant: Mutant
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Everything that is known about one assignment.

    Args:
        mutants: how many were made; all but the survivors lost points.
        submissions: how many were judged for it.
    """

    id: str
    title: Text
    points: int
    seeds: int
    rows: tuple[Row, ...]
    prices: tuple[Price, ...] = ()
    mutants: int = 0
    survivors: tuple[Survivor, ...] = ()
    submissions: int = 0

    @property
    def verdict(self) -> RowVerdict:
        """The worst of its rows."""
        return max((row.verdict for row in self.rows), key=STATES.index, default="ok")

    def hardened(self) -> "Verification":
        """The same, with every warning turned into a failure."""
        rows = (
            replace(row, verdict="failed") if row.verdict == "warning" else row for row in self.rows
        )
        return replace(self, rows=tuple(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What a submission got, as far as verifying needs it.

    Args:
        points: None when the grader failed.
        earned: by criterion; None while pending.
        verdicts: of the criteria.
        tests: verdict by (visibility, test).
        deciding: the criteria that each visibility has tests for.
        print: the report outside `run`, hashed.
        failure: why the grader failed.
    """

    seed: int
    points: int | None
    decided: int
    max_score: int
    earned: Mapping[str, int | None]
    verdicts: Mapping[str, str]
    tests: Mapping[tuple[str, str], str]
    deciding: Mapping[Visibility, frozenset[str]]
    diagnoses: tuple[str, ...]
    cpu_s: float
    memory_mib: int
    capability: str
    print: str
    failure: str | None = None

    @property
    def complete(self) -> bool:
        """Whether every point that could be decided was earned, and some could."""
        return self.points is not None and self.points == self.decided > 0

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria that were earned."""
        return tuple(id for id, verdict in self.verdicts.items() if verdict == "passed")


def document(found: Sequence[Verification], *, strict: bool) -> dict[str, Json]:
    """All verifications of a run, as `schemas/verification-v1.schema.json` describes them."""
    verdicts = [each.verdict for each in found]
    return {
        "schema_version": "1.0",
        "grader_version": metadata.version("torchgrade"),
        "strict": strict,
        "verdict": max(verdicts, key=STATES.index, default="ok"),
        "assignments": [as_json(each) for each in found],
    }


def as_json(found: Verification) -> dict[str, Json]:
    """The verification as it is written for other programs."""
    return {
        "id": found.id,
        "title": _text(found.title),
        "points": found.points,
        "verdict": found.verdict,
        "seeds": found.seeds,
        "submissions": found.submissions,
        "checks": [
            {
                "check": row.check,
                "verdict": row.verdict,
                "details": [_text(each) for each in row.details],
            }
            for row in found.rows
        ],
        "prices": [
            {
                "id": each.id,
                "title": _text(each.title),
                "points": each.points,
                "criteria": [*each.criteria],
            }
            for each in found.prices
        ],
        "mutants": {
            "made": found.mutants,
            "killed": found.mutants - len(found.survivors),
            "equivalent": sum(each.reason is not None for each in found.survivors),
            "survivors": [_survivor(each) for each in found.survivors],
        },
    }


def _survivor(each: Survivor) -> dict[str, Json]:
    mutant = each.mutant
    return {
        "operator": mutant.operator,
        "line": mutant.line,
        "old": mutant.old,
        "new": mutant.new,
        "reason": each.reason,
    }


def _text(text: Text) -> dict[str, Json]:
    return {"code": text.code, "args": dict(text.args), "en": text.en, "zh": text.zh}
