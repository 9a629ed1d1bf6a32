"""`scores.csv` and its like for people, `summary.json` for machines that know no names."""

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.model import Language
from grader.texts import catalog
from grader.texts.names import visible

# Spreadsheets take a cell that begins like this for a formula, the wide forms included.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "＝", "＋", "－", "＠")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One criterion of one report; `earned` is None where nobody decided."""

    id: str
    en: str
    zh: str
    points: int
    earned: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the tables need of one report.

    Args:
        status: graded, unreadable, grader_failed, pending (some points are undecided here), or
            suite_failed (a test of the course broke).
        score: None unless every point is decided.
        title: of the assignment, in English and in Chinese.
    """

    student: str
    assignment: str
    status: str
    score: int | None
    max_score: int
    official: bool
    title: tuple[str, str] = ("", "")
    marks: tuple[Mark, ...] = ()


def row(staff: Mapping[str, Any]) -> Row:
    pending = any(each["verdict"] == "pending" for each in staff["criteria"])
    status = staff["status"]
    if pending and status == "graded":
        status = "pending"
    if suite_erred(staff):
        status = "suite_failed"
    return Row(
        student=staff["submission"]["student"],
        assignment=staff["assignment"]["id"],
        status=status,
        score=staff["score"] if status in ("graded", "unreadable") else None,
        max_score=staff["max_score"],
        official=staff["official"],
        title=_title(staff["assignment"]),
        marks=tuple(_mark(each) for each in staff["criteria"]),
    )


def suite_erred(staff: Mapping[str, Any]) -> bool:
    """Whether a test of the course broke on this submission, so that it decided nothing."""
    tests = staff.get("tests") or ()
    return staff["status"] == "graded" and any(each["verdict"] == "errored" for each in tests)


def _mark(criterion: Mapping[str, Any]) -> Mark:
    en, zh = _title(criterion)
    return Mark(
        id=sys.intern(criterion["id"]),
        en=en,
        zh=zh,
        points=criterion["points"],
        earned=criterion["earned"],
    )


def _title(part: Mapping[str, Any]) -> tuple[str, str]:
    # Every row of a class names the same few titles: they are kept once.
    return sys.intern(part["title"]["en"]), sys.intern(part["title"]["zh"])


def scores_csv(run: Mapping[str, Any], rows: Iterable[Row]) -> bytes:
    """One line for each student, for programs: RFC 4180, UTF-8 with BOM, formulas neutralised.

    Args:
        run: the content of `run.json`.
        rows: of the attempts that count.
    """
    return _csv([[_text(each) for each in line] for line in _table(run, rows)])


def scores_for_people(run: Mapping[str, Any], rows: Iterable[Row], language: Language) -> bytes:
    """The same table with headers and words of a language.

    Ids keep their leading zeros and all their digits in Excel and WPS.
    """

    def word(part: str, key: str) -> str:
        return catalog.say(language, f"bulk.table.{part}.{key}")

    ids = [each["id"] for each in run["assignments"]]
    heads = {key: word("head", key) for key in ("student", "name")}
    for id_ in ids:
        said = {part: word("head", part) for part in _PARTS}
        heads |= {id_: id_, **{f"{id_}_{part}": f"{id_} {said[part]}" for part in _PARTS}}
    head, *lines = _table(run, rows)
    statuses = [head.index(f"{id_}_status") for id_ in ids]
    words = [head.index(f"{id_}_{part}") for id_ in ids for part in ("official", "late")]
    numbered = range(head.index(ids[0]) if ids else len(head))
    shown = [[_text(heads.get(each, each)) for each in head]]
    for line in lines:
        cells = [_number(cell) if at in numbered else _text(cell) for at, cell in enumerate(line)]
        for at in statuses:
            cells[at] = word("status", line[at]) if line[at] else ""
        for at in words:
            cells[at] = word("mark", line[at]) if line[at] else ""
        shown.append(cells)
    return _csv(shown)


def _table(run: Mapping[str, Any], rows: Iterable[Row]) -> list[list[str]]:
    """Head and lines, as they are."""
    ids = [each["id"] for each in run["assignments"]]
    known = {(each.student, each.assignment): each for each in rows}
    dated = {
        (each["student"], each["assignment"]): each for each in run["planned"] if each["counts"]
    }
    idle = {(each["student"], each["assignment"]): "missing" for each in run["absent"]}
    idle |= {
        (each["student"], each["assignment"]): each["status"] for each in run.get("ungraded", ())
    }
    strangers = {each["student"] for each in run.get("strangers", ())}
    mine = _students(run)
    columns = list(dict.fromkeys(key for each in mine for key in each["ids"]))
    head = ["student", "name", *(_id_column(each) for each in columns)]
    for id_ in ids:
        head += [id_, *(f"{id_}_{part}" for part in _PARTS)]
    table = [head]
    for person in mine:
        student = person["student"]
        line = [student, person["name"] or "", *(person["ids"].get(each, "") for each in columns)]
        for id_ in ids:
            key = (student, id_)
            line += _cells(
                known.get(key),
                dated.get(key),
                idle=idle.get(key, ""),
                stranger=student in strangers,
            )
        table.append(line)
    return table


def _csv(table: Iterable[Sequence[str]]) -> bytes:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n").writerows(table)
    return b"\xef\xbb\xbf" + written.getvalue().encode("utf-8", "replace")


# Digits that a spreadsheet shows as they were typed.
_EXACT: Final = 11
_PARTS: Final = ("max", "status", "official", "submitted_at", "late")


def _students(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Those of this shard, and who is in the roster only, by id."""
    keys = ("planned", "absent", "ungraded")
    here = {each["student"] for key in keys for each in run.get(key, ())}
    return [each for each in run["students"] if each["student"] in here]


def _cells(
    row: Row | None, dated: Mapping[str, Any] | None, *, idle: str, stranger: bool
) -> list[str]:
    """The cells of one student and assignment; `idle` is why nothing counts."""
    if dated is None:
        return ["", "", idle, "", "", ""]
    when, late = dated["submitted_at"] or "", "late" if dated["late"] else ""
    if row is None:
        return ["", "", "grader_failed", "", when, late]
    score = "" if row.score is None else str(row.score)
    official = "yes" if row.official else "no"
    # A score of somebody who is on no list is told apart, so that nobody enters it unseen.
    status = "not_on_roster" if stranger and row.status == "graded" else row.status
    return [score, str(row.max_score), status, official, when, late]


def _id_column(column: str) -> str:
    return f"{column} (roster)" if column in ("student", "name") else column


def _text(value: str) -> str:
    """The value as one line of text that no spreadsheet computes."""
    value = visible(value)
    return f"'{value}" if value.lstrip(" ").startswith(_FORMULA) else value


def _number(value: str) -> str:
    """The value as text also where a spreadsheet takes it for a number: `0012301`, 18 digits."""
    digits = value.isascii() and value.isdigit()
    return f'="{value}"' if digits and (value[0] == "0" or len(value) > _EXACT) else _text(value)


def summary(run: Mapping[str, Any], rows: Sequence[Row]) -> bytes:
    """Counts only: nobody can be recognised by them."""
    content = {
        "schema_version": "1.0",
        "planned": len(run["planned"]),
        "students": len(_students(run)),
        "unattributed": len(run["unattributed"]),
        "aside": len(run["aside"]),
        "duplicates": len(run["duplicates"]),
        "official": sum(each.official for each in rows),
        "unofficial": sum(not each.official for each in rows),
        "assignments": {each["id"]: _counts(each, run, rows) for each in run["assignments"]},
    }
    return (json.dumps(content, ensure_ascii=True, indent=2) + "\n").encode("ascii")


def _counts(
    assignment: Mapping[str, Any], run: Mapping[str, Any], rows: Sequence[Row]
) -> dict[str, Any]:
    id_ = assignment["id"]
    mine = [each for each in rows if each.assignment == id_]
    wanted = sum(each["assignment"] == id_ and each["counts"] for each in run["planned"])
    statuses = Counter(each.status for each in mine)
    statuses["grader_failed"] += wanted - len(mine)
    idle = _ungraded(id_, run)
    statuses["unreadable"] += idle.get("unreadable", 0)
    names = ("graded", "unreadable", "grader_failed", "pending")
    scores = Counter(each.score for each in mine if each.score is not None)
    titles = next((each.title for each in mine), None)
    return {
        "title": {"en": titles[0], "zh": titles[1]} if titles else None,
        **{name: statuses[name] for name in names},
        "missing": sum(each["assignment"] == id_ for each in run["absent"]),
        **({"suite_failed": statuses["suite_failed"]} if statuses["suite_failed"] else {}),
        **{status: number for status, number in idle.items() if status not in names},
        "max_score": assignment["max_score"],
        "scores": {str(score): scores[score] for score in sorted(scores)},
        "criteria": _earned(mine),
    }


def _ungraded(id_: str, run: Mapping[str, Any]) -> dict[str, int]:
    """How many handed in something of which nothing counts; only what there is."""
    mine = [each for each in run.get("ungraded", ()) if each["assignment"] == id_]
    return dict(sorted(Counter(each["status"] for each in mine).items()))


def _earned(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """How many earned each criterion, of those where it was decided; in the rubric's order."""
    by_id: dict[str, list[Mark]] = {}
    for mark in (each for row in rows for each in row.marks):
        by_id.setdefault(mark.id, []).append(mark)
    found = []
    for id_, marks in by_id.items():
        decided = [each for each in marks if each.earned is not None]
        line = {
            "id": id_,
            "title": {"en": marks[0].en, "zh": marks[0].zh},
            "points": marks[0].points,
            "earned": sum(each.earned == each.points for each in decided),
            "decided": len(decided),
        }
        found.append(line)
    return found
