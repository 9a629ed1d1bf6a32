"""Records for tests: valid ones by default, each part replaceable by name."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader import report, rubric
from grader.assignment import Assignment, load
from grader.model import (
    Cause,
    Criterion,
    Diagnosis,
    Kind,
    OpenedFile,
    Outcome,
    Piece,
    Place,
    Planned,
    Problem,
    Reading,
    Scored,
    Source,
    Submission,
    Text,
    Unit,
    Usage,
    Verdict,
    Visibility,
)
from grader.report import Output, Run

_CODE = b"def apply_rope(x): ...\n"

ASSIGNMENT_TOML = """\
id = "hw4"
version = "1.0"
title = { en = "Rotary position embedding", zh = "旋转位置编码" }
variables = { rotated = "apply_rope" }
hints = true
packages = ["numpy", "scikit-learn"]

[[entry_points]]
name = "apply_rope"
parameters = [
    { name = "x", kind = "tensor" },
    { name = "positions", kind = "tensor", optional = true },
    { name = "base", kind = "number", optional = true },
]
result = { kind = "tensor", like = "x", family = "float" }

[[entry_points]]
name = "angle"
parameters = [{ name = "position", kind = "integer" }]
result = { kind = "number" }

[limits]
call_s = 1.5
memory_mib = 512
"""

RUBRIC_TOML = """\
[[criteria]]
id = "turning"
points = 3
title = { en = "Pairs are turned", zh = "成对旋转" }
entry_points = ["apply_rope"]

[[criteria]]
id = "pairing"
points = 3
title = { en = "Neighbours form a pair", zh = "相邻两维配对" }
entry_points = ["apply_rope", "angle"]
needs = ["turning"]

[[criteria]]
id = "base"
points = 1
title = { en = "The base is used" }
entry_points = ["angle"]
"""


def an_assignment_folder(parent: Path, *, name: str = "hw4_rope", **files: str | bytes) -> Path:
    """An assignment on disk; `rubric_toml="…"` replaces rubric.toml, and so on."""
    folder = parent / name
    (folder / "suite").mkdir(parents=True)
    contents: dict[str, str | bytes] = {
        "assignment.toml": ASSIGNMENT_TOML,
        "rubric.toml": RUBRIC_TOML,
        "suite/test_public.py": "",
    }
    contents |= {file.replace("_toml", ".toml"): text for file, text in files.items()}
    for file, content in contents.items():
        raw = content.encode() if isinstance(content, str) else content
        (folder / file).write_bytes(raw)
    return folder


def an_assignment(parent: Path, **files: str | bytes) -> Assignment:
    return load(an_assignment_folder(parent, **files))


def a_text(en: str = "Something.", zh: str = "某事。", *, code: str = "mismatch.values") -> Text:
    return Text(code=code, en=en, zh=zh)


def a_criterion(
    id: str = "pairing",
    *,
    points: int = 3,
    entry_points: tuple[str, ...] = ("apply_rope",),
    needs: tuple[str, ...] = (),
) -> Criterion:
    title = Text(code=f"hw4.criterion.{id}", en=f"Title of {id}", zh=f"{id} 的标题")
    return Criterion(id=id, title=title, points=points, entry_points=entry_points, needs=needs)


def a_planned(
    test: str = "test_values", *, criterion: str = "pairing", visibility: Visibility = "shown"
) -> Planned:
    return Planned(test=test, criterion=criterion, visibility=visibility)


def an_outcome(
    test: str = "test_values",
    *,
    criterion: str = "pairing",
    visibility: Visibility = "shown",
    verdict: Verdict = "passed",
    cause: Cause | None = None,
    message: Text | None = None,
    detail: str | None = None,
) -> Outcome:
    return Outcome(
        test=test,
        criterion=criterion,
        visibility=visibility,
        verdict=verdict,
        cause=cause,
        message=message,
        detail=detail,
    )


def planned_of(outcomes: Sequence[Outcome]) -> tuple[Planned, ...]:
    """The plan under which exactly these outcomes came."""
    return tuple(
        a_planned(each.test, criterion=each.criterion, visibility=each.visibility)
        for each in outcomes
    )


def a_submission(
    content: bytes = _CODE,
    *,
    file: str = "hw4.py",
    kind: Kind = "module",
    student: str | None = None,
    attempt: int = 1,
) -> Submission:
    return Submission(
        file=file,
        kind=kind,
        sha256=hashlib.sha256(content).hexdigest(),
        student=student,
        attempt=attempt,
    )


def an_opened_file(content: bytes, *, file: str = "a.py", kind: Kind | None = None) -> OpenedFile:
    """Of the kind that its name says, unless another one is given."""
    kind = kind or ("notebook" if file.lower().endswith(".ipynb") else "module")
    return OpenedFile(submission=a_submission(content, file=file, kind=kind), content=content)


def a_reading(
    submission: Submission | None = None,
    *,
    problems: tuple[Problem, ...] = (),
    unreadable: bool = False,
) -> Reading:
    submission = submission or a_submission()
    piece = Piece(text=_CODE.decode())
    source = Source(kind=submission.kind, pieces=(piece,), units=(Unit(piece=0),))
    return Reading(
        submission=submission,
        source=None if unreadable else source,
        definitions={},
        problems=problems,
        unreadable=unreadable,
    )


def a_problem(kind: str = "syntax_error", *, place: Place | None = None) -> Problem:
    message = a_text("Python cannot read this.", "Python 读不懂这里。", code=f"problem.{kind}")
    return Problem(kind=kind, message=message, place=place or Place(line=3))


def a_diagnosis(id: str = "half_split") -> Diagnosis:
    return Diagnosis(
        id=id,
        title=a_text("Halves are paired.", "前后两半配对。", code=f"hw4.{id}.title"),
        hint=a_text("Which two are turned?", "哪两维一起旋转？", code=f"hw4.{id}.hint"),
    )


def a_run(*, seed: int = 7, started_at: str = "2025-03-01T09:30:00Z", **parts: Any) -> Run:
    defaults: dict[str, Any] = {
        "duration_s": 1.25,
        "grader_version": "0.1.0",
        "python": "3.11.7",
        "torch": "2.13.0",
        "platform": "Linux-x86_64",
        "cpu_capability": "AVX2",
        "packages": {"einops": None, "numpy": "2.4.6"},
        "level": "full",
        "layers": ("rlimits", "seccomp"),
        "usage": Usage(cpu_s=0.5, peak_memory_mib=40),
        "output_tail": "the tail",
        "dropped_bytes": 12,
    }
    return Run(seed=seed, started_at=started_at, **(defaults | parts))


def some_outcomes() -> tuple[Outcome, ...]:
    """All criteria of `RUBRIC_TOML` passed, one hidden test of `turning` among them."""
    return (
        an_outcome("test_turned", criterion="turning"),
        an_outcome("test_neighbours", criterion="pairing"),
        an_outcome("test_base[2]", criterion="base"),
        an_outcome("test_turned", criterion="turning", visibility="hidden", detail="seed 7"),
    )


def a_report(
    assignment: Assignment,
    *,
    outcomes: Sequence[Outcome] | None = None,
    scored: Sequence[Scored] | None = None,
    **parts: Any,
) -> dict[str, Any]:
    """A report of these outcomes (all passed), for staff."""
    outcomes = some_outcomes() if outcomes is None else outcomes
    if scored is None:
        scored = rubric.score(assignment.criteria, outcomes, planned_of(outcomes))
    defaults: dict[str, Any] = {
        "reading": a_reading(),
        "run": a_run(),
        "audience": "staff",
        "output": Output(text="hello\n"),
    }
    return report.build(
        assignment=assignment, scored=scored, outcomes=outcomes, **(defaults | parts)
    )
