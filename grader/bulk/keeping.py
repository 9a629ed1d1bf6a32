"""What an earlier run left in OUT that this one does not grade: another homework, other students.

A second homework, or what came in late, may be graded into the same folder. Whatever this run says
of a student and an assignment replaces what was there; a file that is in this run's folder is read
as this run reads it; and a report that was removed is not brought back.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.assignment import natural
from grader.bulk import run_record, tables
from grader.bulk.store import Store
from grader.bulk.tables import Row
from grader.errors import GraderError, UsageProblem
from grader.files import read_json

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The record of the run with what is kept, and the table's rows of that.

    Args:
        level: the weakest sandbox level of the earlier run; None where nothing is kept.
    """

    run: Mapping[str, Any]
    rows: tuple[Row, ...] = ()
    level: str | None = None


def joined(store: Store, run: Mapping[str, Any]) -> Kept:
    """The record of this run, and of what the folder holds besides."""
    earlier = _earlier(store, run)
    if earlier is None:
        return Kept(run=run)
    said = {_key(each) for part in ("planned", "ungraded") for each in run[part]}
    rows = {
        key: row
        for each in earlier["planned"]
        if each["counts"]
        and (key := _key(each)) not in said
        and not _is_here(each, run)
        and (row := _row(store, each)) is not None
    }
    planned = [each for each in earlier["planned"] if _key(each) in rows]
    there = said | rows.keys()
    asked = {each["id"] for each in run["assignments"]}
    ungraded = [
        each
        for each in earlier.get("ungraded", ())
        if _key(each) not in there
        # This run says nothing of an assignment that it was not asked for.
        and (each["assignment"] not in asked or not any(_lies(run, file) for file in each["files"]))
    ]
    there |= {_key(each) for each in ungraded}
    absent = [each for each in run["absent"] if _key(each) not in there]
    absent += [
        each
        for each in earlier["absent"]
        if each["assignment"] not in asked and _key(each) not in there
    ]
    kept = {**run, "planned": [*run["planned"], *planned], "absent": absent}
    kept["ungraded"] = [*run["ungraded"], *ungraded]
    _add_names(kept, earlier)
    return Kept(run=kept, rows=tuple(rows.values()), level=earlier["sandbox"]["level"])


def _add_names(run: dict[str, Any], earlier: Mapping[str, Any]) -> None:
    """Students, strangers and assignments that only the earlier run knows."""
    keys = [_key(each) for part in ("planned", "ungraded", "absent") for each in run[part]]
    students = {student for student, _ in keys}
    for part, name in (("students", "student"), ("strangers", "student")):
        known = {each[name] for each in run[part]} | {each["student"] for each in run["students"]}
        more = [each for each in earlier.get(part, ()) if each["student"] in students - known]
        run[part] = sorted([*run[part], *more], key=lambda each: str(each["student"]))
    known_ids = {each["id"] for each in run["assignments"]}
    wanted = {id_ for _, id_ in keys} - known_ids
    more = [each for each in earlier["assignments"] if each["id"] in wanted]
    run["assignments"] = sorted([*run["assignments"], *more], key=lambda each: natural(each["id"]))


def _earlier(store: Store, run: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record in the folder, of a run whose results may stand beside this one's."""
    with contextlib.suppress(UsageProblem, GraderError):
        found = run_record.read(store.folder)
        same = all(found[key] == run[key] for key in ("seed", "pseudonym_key"))
        if same and found["shard"] is None and run["shard"] is None:
            return found
    return None


def _row(store: Store, planned: Mapping[str, Any]) -> Row | None:
    try:
        found: Any = read_json(store.folder / "reports" / planned["report"])
        return tables.row(found)
    except (UsageProblem, KeyError, TypeError):
        return None


def _is_here(planned: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    """Whether the file is in this run's folder, read as somebody else's by now."""
    mine = [each for each in run["planned"] if each["assignment"] == planned["assignment"]]
    if not mine and all(planned["assignment"] != each["id"] for each in run["assignments"]):
        return False
    return _lies(run, planned["file"])


def _lies(run: Mapping[str, Any], file: str) -> bool:
    if run["pseudonym_key"] is not None:
        return False
    lists = (run["planned"], run["unattributed"], run["aside"])
    return any(each["file"] == file for part in lists for each in part)


def _key(each: Mapping[str, Any]) -> _Key:
    return each["student"], each["assignment"]
