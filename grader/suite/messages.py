"""What passes between the front desk and the judge: one JSON object a line, either way.

    front desk -> judge   an `Order`
    judge -> front desk   {"now": "planned", …} · {"now": "loading"} · {"now": "testing"}
                          · {"now": "outcome", …} … · {"now": "done", …}
                          or {"now": "broken", "kind": …, "detail": …}, see `Broken`

`loading` and `testing` say what is being waited for: a submission's own statements may take as
long as its tests. No report depends on them.

Both ends are ours and trusted; what student code said is inside texts, escaped and capped before
it is written. Imports neither torch nor pytest, because the front desk reads this, too.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import IO, Any, Literal

from grader.model import (
    Audience,
    Change,
    Diagnosis,
    Json,
    Limits,
    Outcome,
    Place,
    Planned,
    Problem,
    Source,
    Text,
    Usage,
)
from grader.plain import problem_from, source_from, text_from

# What the judge does for a submission: its own statements run, or the tests do.
Stage = Literal["loading", "testing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One submission to be judged for one assignment.

    Args:
        folder: of the assignment.
        places: where each entry point is defined, for messages.
        rebound: where the file gives an entry point's name to something else than a function.
        bound: all places of names that the file binds more than once, in order.
        skipped: criteria whose tests need not run (their function is blank or missing).
        diagnose: whether a loss is looked into.
        only_probes: run no test, return the numbers of the probes, with these changes.
        reverse: run the shown tests last to first, then the hidden ones last to first.
        until_lost: run no test after the first that did not pass.
        demanded: the sandbox level without which nothing of it is run (`full`), or `any`.
    """

    folder: str
    source: Source
    limits: Limits
    seed: int
    places: Mapping[str, Place] = field(default_factory=dict)
    rebound: Mapping[str, Place] = field(default_factory=dict)
    bound: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    diagnose: bool = True
    only_probes: bool = False
    changes: Mapping[str, Change] = field(default_factory=dict)
    reverse: bool = False
    until_lost: bool = False
    demanded: str = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """Everything that the judge found out about one submission.

    Args:
        output: the head of what was printed; the first `before_hidden` characters of it came
            before the first call of a hidden test, and `cut_before_hidden` says whether more had
            been printed by then than is kept.
        problems: those that were known by then; `late_problems` are for staff only.
        hidden_asked: whether a worker of the submission has met hidden inputs.
        killed: a worker died of a SIGKILL that was none of ours.
    """

    planned: tuple[Planned, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    late_problems: tuple[Problem, ...] = ()
    hidden_asked: bool = False
    diagnoses: tuple[Diagnosis, ...] = ()
    output: str = ""
    output_tail: str = ""
    before_hidden: int = 0
    cut_before_hidden: bool = False
    dropped_bytes: int = 0
    numbers: Mapping[str, Json] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    level: str = "reduced"
    layers: tuple[str, ...] = ()
    torch: str = ""
    cpu_capability: str = ""
    killed: bool = False

    def told(self, audience: Audience) -> tuple[Problem, ...]:
        """The problems that this audience may see."""
        return (*self.problems, *self.late_problems) if audience == "staff" else self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """No verdicts: the course's files or the grader itself are at fault.

    Args:
        kind: `twice` when the grader failed in two fresh tries, so that a third is of no use;
            `reduced` when the order demanded more than the sandbox has: `detail` is the level
            then, and nothing of the submission was run.
        layers: of the sandbox that was too weak.
    """

    kind: Literal["assignment", "grader", "twice", "reduced"]
    detail: str
    layers: tuple[str, ...] = ()


def line(message: Mapping[str, object]) -> bytes:
    """The line that carries a message."""
    return json.dumps(message, allow_nan=False).encode("ascii") + b"\n"


def too_weak(level: str, layers: Sequence[str]) -> dict[str, object]:
    """The answer to an order that demands a stronger sandbox."""
    return {"now": "broken", "kind": "reduced", "detail": level, "layers": [*layers]}


def is_last(data: bytes) -> bool:
    """Whether this line ends the answer to an order."""
    return json.loads(data)["now"] in ("done", "broken")


def read_lines(stream: IO[bytes] | None) -> Iterator[dict[str, Any]]:
    """The messages of a stream, until it ends."""
    for data in stream or ():
        yield json.loads(data)


def order_line(order: Order) -> bytes:
    return line(asdict(order))


def order_from(data: bytes) -> Order:
    raw: dict[str, Any] = json.loads(data)
    source = raw["source"]
    return Order(
        folder=raw["folder"],
        source=source_from(source),
        limits=Limits(**raw["limits"]),
        seed=raw["seed"],
        places={name: Place(**place) for name, place in raw["places"].items()},
        rebound={name: Place(**place) for name, place in raw["rebound"].items()},
        bound={
            name: tuple(Place(**place) for place in places) for name, places in raw["bound"].items()
        },
        skipped=tuple(raw["skipped"]),
        diagnose=raw["diagnose"],
        only_probes=raw["only_probes"],
        changes={name: _change_from(each) for name, each in raw["changes"].items()},
        reverse=raw["reverse"],
        until_lost=raw["until_lost"],
        demanded=raw["demanded"],
    )


def _change_from(raw: Mapping[str, Any]) -> Change:
    counted = raw["counted"]
    return Change(**{**raw, "counted": tuple(counted) if counted else None})


def planned_from(raw: Mapping[str, Any]) -> tuple[Planned, ...]:
    return tuple(Planned(**each) for each in raw["tests"])


def outcome_from(raw: Mapping[str, Any]) -> Outcome:
    return Outcome(**{**raw["outcome"], "message": text_from(raw["outcome"]["message"])})


def done_from(
    raw: Mapping[str, Any], planned: tuple[Planned, ...], outcomes: tuple[Outcome, ...]
) -> Verdicts:
    """The verdicts of one submission, from its last message and those before it."""
    verdicts = dict(raw["verdicts"])
    return Verdicts(
        **{
            **verdicts,
            "planned": planned,
            "outcomes": outcomes,
            "problems": tuple(problem_from(each) for each in verdicts["problems"]),
            "late_problems": tuple(problem_from(each) for each in verdicts["late_problems"]),
            "diagnoses": tuple(_diagnosis_from(each) for each in verdicts["diagnoses"]),
            "usage": Usage(**verdicts["usage"]),
            "layers": tuple(verdicts["layers"]),
        }
    )


def _diagnosis_from(raw: Mapping[str, Any]) -> Diagnosis:
    return Diagnosis(**{**raw, "title": Text(**raw["title"]), "hint": Text(**raw["hint"])})


def place_args(place: Place | None) -> dict[str, Json]:
    """A place as arguments of a text."""
    if place is None:
        return {}
    return {"line": place.line, "cell": place.cell, "quote": place.quote}
