"""`run.json`: what was planned, with which versions and seed, and who is absent."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.assignment import Assignment
from grader.bulk.names import folder_name
from grader.bulk.plan import Job, Left, Plan
from grader.errors import GraderError, UsageProblem
from grader.files import read_json, replace_file
from grader.model import Json, Text
from grader.texts import catalog
from grader.validation import schema, sentences

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

NAME = "run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What must be equal for two reports to be comparable.

    Args:
        demanded: the sandbox level without which nothing is graded (`full`), or `any`.
        pseudonym_key: the fingerprint of the key, None without pseudonyms.
    """

    seed: int
    demanded: str
    grader_version: str
    python: str
    torch: str
    pseudonym_key: str | None = None
    until: str | None = None


def conditions(
    seed: int, *, allow_reduced: bool, pseudonym_key: str | None = None, until: str | None = None
) -> Conditions:
    """Those of this machine."""
    return Conditions(
        seed=seed,
        demanded="any" if allow_reduced else "full",
        grader_version=metadata.version("torchgrade"),
        python=platform.python_version(),
        # The front desk never imports torch; the judge's own word stands in every report.
        torch=metadata.version("torch"),
        pseudonym_key=pseudonym_key,
        until=until,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """The `index`-th of `count` parts, from 1."""

    index: int
    count: int


def record(
    plan: Plan,
    whole: Plan,
    assignments: Sequence[Assignment],
    under: Conditions,
    shard: Shard | None,
) -> dict[str, Any]:
    """The content of `run.json` before the first submission is graded.

    Args:
        plan: what this run grades; `whole` is what all shards together grade.
    """
    used = {each.assignment for each in whole.jobs} | {id_ for _, id_ in whole.absent}
    used |= {each.assignment for each in whole.ungraded}
    return {
        "schema_version": "1.0",
        "seed": under.seed,
        "grader_version": under.grader_version,
        "python": under.python,
        "torch": under.torch,
        "sandbox": {"demanded": under.demanded, "level": None},
        "shard": {"index": shard.index, "count": shard.count} if shard else None,
        "plan_digest": whole.digest,
        "pseudonym_key": under.pseudonym_key,
        "until": under.until,
        "started_at": now(),
        "finished_at": None,
        "assignments": [
            {
                "id": each.id,
                "version": each.version,
                "digest": each.digest,
                "edition": each.edition,
                "max_score": each.max_score,
            }
            for each in assignments
            if each.id in used
        ],
        "planned": [planned(job) for job in plan.jobs],
        "students": [
            {"student": each.student, "name": each.name, "ids": dict(each.ids)}
            for each in plan.people
        ],
        "absent": [{"student": student, "assignment": id_} for student, id_ in plan.absent],
        "ungraded": [
            {
                "student": each.student,
                "assignment": each.assignment,
                "status": each.status,
                "files": [*each.files],
            }
            for each in plan.ungraded
        ],
        "strangers": [{"student": each.student, "alike": each.alike} for each in plan.strangers],
        "substituted": [*plan.substituted],
        "understood": [
            {"layout": each.layout, "students": each.students, "files": each.files}
            for each in plan.understood
        ],
        "unattributed": [_left(each) for each in plan.left],
        "aside": [_left(each) for each in plan.aside],
        "duplicates": [
            {"assignment": each.assignment, "sha256": each.sha256, "students": [*each.students]}
            for each in plan.duplicates
        ],
    }


def planned(job: Job) -> dict[str, Json]:
    return {
        "student": job.student,
        "assignment": job.assignment,
        "attempt": job.attempt,
        "counts": job.counts,
        "file": job.file,
        "sha256": job.sha256,
        "submitted_at": job.submitted_at,
        "late": job.late,
        "report": f"{folder_name(job.student)}/{job.report_name}",
    }


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write(content: Mapping[str, Any], folder: Path) -> None:
    """Put a valid `run.json` into the folder.

    Raises:
        GraderError: the content breaks its own schema.
        UsageProblem: it cannot be written there.
    """
    if problems := validate(content):
        raise GraderError("\n".join(["run.json is not valid:", *(each.en for each in problems)]))
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, indent=2) + "\n"
    replace_file(folder / NAME, text.encode("ascii"))


def read(folder: Path) -> dict[str, Any]:
    """The `run.json` of a folder.

    Raises:
        UsageProblem: it is missing, no JSON, or not ours.
    """
    content = read_json(folder / NAME)
    problems = validate(content)
    if problems or not isinstance(content, dict):
        said = catalog.text("file.not_a_run", file=str(folder / NAME))
        rows = [said, *problems]
        raise UsageProblem(
            Text(
                code=said.code,
                en="\n".join(each.en for each in rows),
                zh="\n".join(each.zh for each in rows),
            )
        )
    return content


def validate(content: object) -> list[Text]:
    """What is wrong, one sentence each; at most ten."""
    return sentences(islice(_validator().iter_errors(content), 10))


@cache
def _validator() -> "Draft202012Validator":
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema("run"))


def key_name(key: str) -> Text:
    """What a difference between two runs is about: a key of `run.json`, or an assignment's id."""
    code = f"run_key.{key}"
    if code in catalog.codes("en"):
        return catalog.text(code)
    return Text(code="run_key", en=key, zh=key)


def _left(left: Left) -> dict[str, Json]:
    return {"file": left.file, "reason": left.reason}
