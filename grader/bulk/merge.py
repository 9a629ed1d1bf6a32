"""Joining the folders of a sharded batch into the folder of the class."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader import report as reports
from grader.bulk import run_record, tables
from grader.bulk.batch import finish
from grader.bulk.store import Store
from grader.errors import UsageProblem
from grader.files import read_json
from grader.model import Language
from grader.texts import catalog

# Whatever decides a score must be equal in all shards, and so must what they all see.
_EQUAL: Final = (
    "seed",
    "grader_version",
    "python",
    "torch",
    "pseudonym_key",
    "until",
    "plan_digest",
)
_WEAKEST_FIRST: Final = ("reduced", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One shard as it lies there."""

    folder: Path
    run: Mapping[str, Any]


def read_parts(folders: Sequence[Path]) -> tuple[Part, ...]:
    """The shards, in their order; all of them are there and were graded alike.

    Raises:
        UsageProblem: naming the folders and the difference.
    """
    parts = [_part(folder) for folder in folders]
    first = parts[0]
    for other in parts[1:]:
        _refuse_difference(first, other)
    count = first.run["shard"]["count"]
    by_index: dict[int, Part] = {}
    for each in parts:
        shard = each.run["shard"]
        if shard["count"] != count:
            _differs("shard", first, each, f"1/{count}", f"1/{shard['count']}")
        if (twin := by_index.get(shard["index"])) is not None:
            args = {"index": shard["index"], "count": count}
            raise _usage("twice", **args, one=str(twin.folder), other=str(each.folder))
        by_index[shard["index"]] = each
    missing = [f"{index}/{count}" for index in range(1, count + 1) if index not in by_index]
    if missing:
        raise _usage("missing", count=count, missing=missing)
    return tuple(by_index[index] for index in sorted(by_index))


def join(parts: Sequence[Part], store: Store, language: Language = "en") -> int:
    """Put all reports and the tables of the class into the store; how many reports there are.

    Raises:
        UsageProblem: a shard has not finished, or holds another report than it planned.
    """
    for part in parts:
        _refuse_unfinished(part)
    order = {each["id"]: at for at, each in enumerate(parts[0].run["assignments"])}
    planned = sorted(
        ((each, part) for part in parts for each in part.run["planned"]),
        key=lambda pair: (
            not pair[0]["counts"],
            order[pair[0]["assignment"]],
            pair[0]["student"],
            pair[0]["attempt"],
        ),
    )
    rows = []
    for each, part in planned:
        staff = _copied(each, part, store)
        if each["counts"]:
            rows.append(tables.row(staff))
    run = _joined(parts, [each for each, _ in planned])
    finish(store, run, rows, language)
    return len(planned)


def _part(folder: Path) -> Part:
    try:
        run = run_record.read(folder)
    except UsageProblem as error:
        raise _usage("not_a_run", folder=str(folder), reason=error.args[0]) from error
    if run["shard"] is None:
        raise _usage("no_shard", folder=str(folder))
    return Part(folder=folder, run=run)


def _usage(code: str, **args: Any) -> UsageProblem:
    return UsageProblem(catalog.text(f"cli.merge.{code}", **args))


def _refuse_difference(first: Part, other: Part) -> None:
    for key in _EQUAL:
        if first.run[key] != other.run[key]:
            _differs(key, first, other, first.run[key], other.run[key])
    one, two = first.run["sandbox"]["demanded"], other.run["sandbox"]["demanded"]
    if one != two:
        _differs("sandbox", first, other, one, two)
    mine = {each["id"]: each["digest"] for each in first.run["assignments"]}
    theirs = {each["id"]: each["digest"] for each in other.run["assignments"]}
    for id_ in sorted(mine.keys() | theirs.keys()):
        if mine.get(id_) != theirs.get(id_):
            _differs(id_, first, other, mine.get(id_), theirs.get(id_))


def _differs(key: str, first: Part, other: Part, left: object, right: object) -> None:
    raise _usage(
        "differs",
        one=str(first.folder),
        other=str(other.folder),
        key=run_record.key_name(key),
        left=str(left),
        right=str(right),
    )


def _refuse_unfinished(part: Part) -> None:
    missing = [
        each["report"]
        for each in part.run["planned"]
        for view in ("reports", "feedback")
        if not (part.folder / view / each["report"]).is_file()
    ]
    if missing or part.run["finished_at"] is None:
        raise _usage("unfinished", folder=str(part.folder), number=len(missing))


def _copied(planned: Mapping[str, Any], part: Part, store: Store) -> dict[str, Any]:
    """Both reports, copied byte for byte; the staff report."""
    staff: dict[str, Any] = {}
    for view in ("feedback", "reports"):
        path = part.folder / view / planned["report"]
        found = read_json(path)
        if reports.validate(found) or not isinstance(found, dict):
            raise _usage("altered", file=str(path))
        staff = dict(found)
        handed_in = staff["submission"]
        said = (handed_in["student"], staff["assignment"]["id"], handed_in["sha256"])
        if said != (planned["student"], planned["assignment"], planned["sha256"]):
            raise _usage("altered", file=str(path))
        store.put(store.folder / view / planned["report"], path.read_bytes())
    return staff


def _joined(parts: Sequence[Part], planned: list[Mapping[str, Any]]) -> dict[str, Any]:
    first = parts[0].run
    levels = [part.run["sandbox"]["level"] for part in parts]
    weakest = next((each for each in _WEAKEST_FIRST if each in levels), None)
    run = {
        **json.loads(json.dumps(first)),
        "shard": None,
        "planned": planned,
        "started_at": min(part.run["started_at"] for part in parts),
        "finished_at": max(part.run["finished_at"] for part in parts),
    }
    run["sandbox"]["level"] = weakest
    return run
