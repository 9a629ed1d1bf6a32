"""The list of the class: who should have handed in, and their ids in other systems."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from grader.bulk.platforms import Named
from grader.errors import UsageProblem
from grader.texts import catalog
from grader.texts.reasons import why

# The first of these columns that is there holds the id under which a student is known here.
_IDS = (
    "student_id",
    "sis user id",
    "sid",
    "sis login id",
    "username",
    "user name",
    "login",
    "login_id",
    "github_username",
    "identifier",
    "id",
    "email",
    "email address",
    "student",
    "学号",
)
_NAMES = ("name", "full name", "student", "姓名")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A student of the roster; `ids` are all columns as they stand there."""

    student: str
    name: str | None
    ids: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """The class, and which member each id, address or name belongs to."""

    members: tuple[Member, ...] = ()
    by_value: Mapping[str, Member] | None = None

    def find(self, named: Named) -> Member | None:
        """The member that a file's naming means: by id, or by a name that only one has."""
        known = self.by_value or {}
        found = known.get(_plain(named.student))
        if found is None and named.name:
            found = known.get(_plain(named.name)) or known.get(_canvas(named.name))
        return found


def read(path: Path) -> Roster:
    """The roster in a CSV file; any delimiter that spreadsheets write, UTF-8 or UTF-16.

    Raises:
        UsageProblem: it cannot be read, has no column with ids, or an id stands in it twice.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = why(error)
        raise UsageProblem(_text("roster_unreadable", file=str(path), reason=reason)) from error
    rows = _rows(_decoded(raw))
    head = [cell.strip().removeprefix("\ufeff") for cell in rows[0]] if rows else []
    plain = [each.lower() for each in head]
    column = next((plain.index(each) for each in _IDS if each in plain), None)
    if column is None:
        raise UsageProblem(_text("roster_columns", file=str(path), found=head, known=list(_IDS)))
    members = [_member(head, row, column) for row in rows[1:] if _filled(row, column)]
    seen: set[str] = set()
    for each in members:
        if each.student in seen:
            raise UsageProblem(_text("roster_twice", file=str(path), student=each.student))
        seen.add(each.student)
    return Roster(members=tuple(members), by_value=_index(members))


def _text(code: str, **args: object) -> object:
    return catalog.text(f"bulk.{code}", **args)  # type: ignore[arg-type]


def _decoded(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # What a Chinese Excel writes when it is asked for CSV.
        return raw.decode("gb18030", "replace")


def _rows(text: str) -> list[list[str]]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


def _filled(row: Sequence[str], column: int) -> bool:
    return column < len(row) and row[column].strip() != ""


def _member(head: Sequence[str], row: Sequence[str], column: int) -> Member:
    ids = {
        key: normalize("NFC", value.strip()) for key, value in zip(head, row, strict=False) if key
    }
    name = next((ids[key] for key in head if key.lower() in _NAMES and ids.get(key)), None)
    return Member(student=normalize("NFC", row[column].strip()), name=name, ids=ids)


def _index(members: Sequence[Member]) -> dict[str, Member]:
    """By every value that belongs to one member alone."""
    owners: dict[str, list[Member]] = {}
    for member in members:
        values = {_plain(member.student)}
        for key, value in member.ids.items():
            if key.lower() in (*_IDS, *_NAMES) and value:
                values |= {_plain(value), _canvas(value)}
                # Moodle's grading worksheet writes "Participant 12345".
                values.add(_plain(value).removeprefix("participant "))
        for value in values:
            owners.setdefault(value, []).append(member)
    unique = {value: found[0] for value, found in owners.items() if len(found) == 1 and value}
    return unique | {_plain(member.student): member for member in members}


def _plain(value: str) -> str:
    return normalize("NFC", value).strip().casefold()


def _canvas(name: str) -> str:
    """`lovelaceada` of `Lovelace, Ada`: how Canvas writes a name into a file's name."""
    return "".join(char for char in _plain(name) if char.isalnum())
