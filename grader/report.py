"""The report: built from records, cut for its audience, written and read.

`schemas/report-v1.schema.json` describes every key. All keys are always there; what a student
may not see is null, and hidden tests are not listed. Nothing is cut later than here.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from grader import rubric
from grader.allowance import shortened
from grader.assignment import Assignment
from grader.claims import clean
from grader.errors import GraderError
from grader.files import read_json, replace_file
from grader.model import (
    Audience,
    CriterionVerdict,
    Diagnosis,
    Json,
    Outcome,
    Problem,
    Reading,
    Scored,
    Submission,
    Text,
    Usage,
)
from grader.texts import catalog
from grader.texts.names import visible
from grader.validation import consumer_schema, schema, validate

__all__ = [
    "Output",
    "Run",
    "Status",
    "build",
    "consumer_schema",
    "dumps",
    "read",
    "report_id",
    "schema",
    "validate",
    "write",
]

Status = Literal["graded", "unreadable", "grader_failed"]

_OUTPUT_CHARACTERS = 64 * 1024
_DETAIL_CHARACTERS = 32 * 1024
_SENTENCE_CHARACTERS = 4096
_PROBLEMS = 50
# Said by the grader alone, without any word or number of a worker.
_FOR_EVERYONE = rubric.OWN_MESSAGES | {"spent.deaths", "spent.total"}
# Of these, those that tell no more of hidden tests than the score does: they follow from reading
# the file, or from which criteria were earned.
_AS_COARSE_AS_THE_SCORE = frozenset(
    {
        "criterion.not_done",
        "criterion.missing",
        "criterion.needs",
        "criterion.unreadable",
        "criterion.grader_failed",
    }
)
# Above this, JSON readers that know only doubles read another number.
_EXACT_IN_JSON = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The circumstances of a grading; nothing else in a report depends on them.

    Args:
        started_at: ISO 8601 in UTC, e.g. `2025-03-01T09:30:00Z`.
        packages: versions of what a submission finds installed, None for what is missing.
        torch, cpu_capability: None when PyTorch was not needed.
        level, layers: of the sandbox; None and () when nothing was run.
        output_tail: the end of what the submission printed (a claim, cleaned here).
    """

    started_at: str
    duration_s: float
    seed: int
    grader_version: str
    python: str
    platform: str
    packages: Mapping[str, str | None] = field(default_factory=dict)
    torch: str | None = None
    cpu_capability: str | None = None
    level: str | None = None
    layers: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    output_tail: str = ""
    dropped_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The head of what the submission printed (a claim, cleaned by `build`).

    Args:
        truncated: whether there was more than `text`.
        before_hidden: how many characters of `text` came before the first hidden test. Once a
            hidden test has an outcome, students see these and no more; None counts as 0.
        cut_before_hidden: whether there was more than `text` by then.
    """

    text: str = ""
    truncated: bool = False
    before_hidden: int | None = None
    cut_before_hidden: bool = False


def build(
    *,
    assignment: Assignment,
    reading: Reading,
    scored: Sequence[Scored],
    outcomes: Sequence[Outcome],
    run: Run,
    audience: Audience,
    diagnoses: Sequence[Diagnosis] = (),
    problems: Sequence[Problem] = (),
    output: Output = Output(),
    official: bool = False,
    status: Status = "graded",
    hidden_asked: bool = True,
) -> dict[str, Any]:
    """The report as plain JSON data, keys in the order of the contract.

    Args:
        scored: of `rubric.score`; an unreadable file may leave it empty (every criterion
            earns 0), after a grader failure it is not looked at (nothing is decided).
        outcomes: of `rubric.complete`, in the order in which the tests ran.
        problems: what is wrong with the file; those of `reading` that are not among them come
            first.
        hidden_asked: whether the submission has met hidden inputs. Then nothing that depends on
            what it did with them is in the student's view, but for what was earned.
    """
    scored = _scored(assignment, scored, status)
    failed = status == "grader_failed"
    told = _told([*(each for each in reading.problems if each not in problems), *problems])
    whole = {
        "schema_version": "1.0",
        "report_id": report_id(reading.submission, assignment.digest, run),
        "assignment": {
            "id": assignment.id,
            "title": _text(assignment.title),
            "version": assignment.version,
            "digest": assignment.digest,
        },
        "submission": _submission(reading.submission),
        "status": status,
        "official": official,
        "audience": audience,
        "score": None if failed else rubric.total(scored),
        "decided": rubric.decided(scored),
        "max_score": rubric.max_score(scored),
        "criteria": [
            _criterion(each, outcomes, audience, hidden_asked=hidden_asked) for each in scored
        ],
        "tests": [
            _test(each, audience)
            for each in outcomes
            if audience == "staff" or each.visibility == "shown"
        ],
        "diagnoses": [
            _diagnosis(each, hint=assignment.hints or audience == "staff") for each in diagnoses
        ],
        "problems": [_problem(each) for each in told],
        "output": _output(output, outcomes, audience),
        "run": _run(run, audience, hidden_asked=hidden_asked and (failed or _has_hidden(outcomes))),
    }
    return shortened(whole)


def report_id(submission: Submission, digest: str, run: Run) -> str:
    """SHA-256 of what makes a grading the same: equal in both views and on every machine."""
    parts = [
        submission.student,
        submission.attempt,
        submission.sha256,
        digest,
        run.seed,
        run.grader_version,
    ]
    return sha256(json.dumps(parts, separators=(",", ":")).encode("ascii")).hexdigest()


def _scored(assignment: Assignment, scored: Sequence[Scored], status: Status) -> Sequence[Scored]:
    if status == "grader_failed":
        return rubric.undecided(assignment.criteria)
    if status == "unreadable" and not scored:
        return rubric.nothing_to_test(assignment.criteria)
    return scored


# --- the parts -------------------------------------------------------------------------------


def _submission(submission: Submission) -> dict[str, Json]:
    return {
        "student": submission.student,
        "attempt": submission.attempt,
        "file": file_name(submission.file),
        "kind": submission.kind,
        "sha256": submission.sha256,
        "submitted_at": submission.submitted_at,
        "late": submission.late,
    }


def file_name(file: str) -> str:
    """A path below the folder that was graded, with `/`, whatever bytes it is made of."""
    return visible(file).replace("\\", "/").lstrip("/") or "?"


def _criterion(
    scored: Scored, outcomes: Sequence[Outcome], audience: Audience, *, hidden_asked: bool
) -> dict[str, Json]:
    criterion, verdict, message = scored.criterion, scored.verdict, scored.message
    if audience == "student":
        mine = [each for each in outcomes if each.criterion == criterion.id]
        if hidden_asked and _has_hidden(mine):
            verdict = _verdict_for_students(scored, mine)
        message = _for_students(scored, verdict, mine, hidden_asked=hidden_asked)
    return {
        "id": criterion.id,
        "title": _text(criterion.title),
        "points": criterion.points,
        "earned": scored.earned,
        "verdict": verdict,
        "needs": [*criterion.needs],
        "message": _text(message) if message is not None else None,
    }


def _has_hidden(outcomes: Sequence[Outcome]) -> bool:
    return any(each.visibility == "hidden" for each in outcomes)


def _verdict_for_students(scored: Scored, mine: Sequence[Outcome]) -> CriterionVerdict:
    """The verdict as far as shown tests give it; of hidden ones only whether they were lost.

    Whether one failed or was not run any more is what a submission can choose once it has seen
    the inputs. A course's own mistake is told all the same, because somebody has to mend it.
    """
    verdict, message = scored.verdict, scored.message
    if verdict not in ("failed", "not_run") or (
        message is not None and message.code in _AS_COARSE_AS_THE_SCORE
    ):
        return verdict
    shown = {each.verdict for each in mine if each.visibility == "shown"}
    return "not_run" if "not_run" in shown and "failed" not in shown else "failed"


def _for_students(
    scored: Scored,
    verdict: CriterionVerdict,
    mine: Sequence[Outcome],
    *,
    hidden_asked: bool,
) -> Text | None:
    """The message, unless it may come from a hidden test: then only that one was lost.

    An allow-list: a shown test of this criterion said it, or no word of a worker is in it.
    """
    message = scored.message
    if message is None:
        return None
    allowed = _FOR_EVERYONE
    if hidden_asked and _has_hidden(mine):
        allowed = _AS_COARSE_AS_THE_SCORE
    if message.code in allowed or any(
        each.visibility == "shown" and each.message == message for each in mine
    ):
        return message
    kind = verdict if verdict in ("not_run", "errored") else "failed"
    return catalog.text(f"report.hidden_{kind}")


def _test(outcome: Outcome, audience: Audience) -> dict[str, Json]:
    detail = outcome.detail if audience == "staff" else None
    return {
        "id": outcome.test,
        "criterion": outcome.criterion,
        "visibility": outcome.visibility,
        "verdict": outcome.verdict,
        "cause": outcome.cause,
        "message": _text(outcome.message) if outcome.message is not None else None,
        "detail": clean(detail, _DETAIL_CHARACTERS) if detail is not None else None,
    }


def _diagnosis(diagnosis: Diagnosis, *, hint: bool) -> dict[str, Json]:
    return {
        "id": diagnosis.id,
        "title": _text(diagnosis.title),
        "hint": _text(diagnosis.hint) if hint else None,
        "function": diagnosis.function,
        "by": diagnosis.by,
    }


def _told(problems: Sequence[Problem]) -> Sequence[Problem]:
    """The first problems, and how many more there are: a notebook may have thousands of cells."""
    more = len(problems) - _PROBLEMS
    if more <= 0:
        return problems
    message = catalog.text("problem.more", count=more)
    return [*problems[:_PROBLEMS], Problem(kind="more", message=message)]


def _problem(problem: Problem) -> dict[str, Json]:
    place = problem.place
    return {
        "kind": problem.kind,
        "message": _text(problem.message),
        "line": place.line,
        "cell": place.cell,
        "cell_id": _line(place.cell_id) if place.cell_id is not None else None,
        "quote": _line(place.quote) if place.quote is not None else None,
    }


def _output(output: Output, outcomes: Sequence[Outcome], audience: Audience) -> dict[str, Json]:
    text, truncated = output.text, output.truncated
    if audience == "student" and any(each.visibility == "hidden" for each in outcomes):
        text = text[: output.before_hidden or 0]
        # Not whether it printed more: that, too, it can decide by what it has seen.
        truncated = output.cut_before_hidden or output.before_hidden is None
    # An escape is up to ten characters long; cut at the end only, because this is the head.
    cleaned = clean(text, len(text) * 10)
    head = cleaned[:_OUTPUT_CHARACTERS]
    return {"text": head, "truncated": truncated or len(head) < len(cleaned)}


def _run(run: Run, audience: Audience, *, hidden_asked: bool) -> dict[str, Json]:
    staff = audience == "staff"
    # A submission that has seen hidden inputs decides how long it takes: the next one begins then.
    timed = staff or not hidden_asked
    usage: Json = {"cpu_s": run.usage.cpu_s, "peak_memory_mib": run.usage.peak_memory_mib}
    tail: Json = {
        "tail": clean(run.output_tail, _OUTPUT_CHARACTERS),
        "dropped_bytes": run.dropped_bytes,
    }
    return {
        "started_at": run.started_at if timed else f"{run.started_at[:16]}:00Z",
        "duration_s": run.duration_s if timed else None,
        "seed": run.seed if staff else None,
        "grader_version": run.grader_version,
        "python": run.python,
        "torch": run.torch,
        "platform": run.platform,
        "cpu_capability": run.cpu_capability,
        "packages": {**run.packages},
        "sandbox": {"level": run.level, "layers": [*run.layers]},
        "usage": usage if staff else None,
        "output": tail if staff else None,
    }


def _text(text: Text) -> dict[str, Json]:
    return {
        "code": text.code,
        "args": {key: _plain(value) for key, value in text.args.items()},
        "en": clean(text.en, _SENTENCE_CHARACTERS),
        "zh": clean(text.zh, _SENTENCE_CHARACTERS),
    }


def _plain(value: Json) -> Json:
    """The value as every JSON reader can hold it: numbers that none can become text."""
    match value:
        case str():
            return clean(value, _SENTENCE_CHARACTERS)
        case float() if not isfinite(value):
            return str(value)
        case int() if abs(value) > _EXACT_IN_JSON:
            # Python refuses to print integers of thousands of digits.
            return str(value) if value.bit_length() < 1024 else "a huge integer"
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {clean(key): _plain(each) for key, each in value.items()}
        case _:
            return value


def _line(text: str) -> str:
    return clean(text).replace("\n", " ").replace("\t", " ")


# --- files -----------------------------------------------------------------------------------


def dumps(report: Mapping[str, Any]) -> str:
    """The report as it is written everywhere: ASCII, two spaces, `\\n` line ends."""
    return json.dumps(report, ensure_ascii=True, allow_nan=False, indent=2) + "\n"


def write(report: Mapping[str, Any], path: Path) -> None:
    """Put a valid report at `path`, whole or not at all.

    Raises:
        GraderError: the report breaks its own schema.
        UsageProblem: the file cannot be written there.
    """
    if problems := validate(report):
        raise GraderError("\n".join(["the report is not valid:", *problems]))
    replace_file(path, dumps(report).encode("ascii"))


def read(path: Path) -> Json:
    """The JSON in a file, in any Unicode encoding; whether it is a report `validate` says.

    Raises:
        UsageProblem: naming the file and the place where it stops being JSON.
    """
    return read_json(path)
