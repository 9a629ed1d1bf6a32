"""The list of the class: who should have handed in, and their ids in other systems."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from grader.bulk import headers, labels, sheets
from grader.bulk.headers import GROUPS, IDS, MAIL, NAMES
from grader.bulk.platforms import Named, System
from grader.errors import UsageProblem
from grader.texts import catalog

# Whose ids stand in which column. An id is looked up among those of its own system only.
_COLUMNS: Final[Mapping[System, tuple[str, ...]]] = {
    "canvas": ("id", "canvas_id"),
    "canvas_anonymous": ("anonymous_id",),
    "gradescope": ("sid", "student_id", "student id", "学号", "sis user id", *MAIL),
    "moodle": ("identifier", "participant"),
    "blackboard": ("username", "user name", "login", "login_id", "sis login id"),
    "brightspace": ("brightspace_id",),
    "nbgrader": ("student_id", "student id", "学号", "username", "login", "login_id", "id", *MAIL),
    "github": ("github_username",),
}
_NO_PEOPLE: Final = ("points possible", "student, test", "test student")
# `my work - Ann Lee`, as forms name what is uploaded.
_BETWEEN = re.compile(r"(?:^|\s)[-–—](?=\s|$)|_")
_DIRECTION = re.compile("[\u200e\u200f]|%E2%80%8[EF]")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,255}")
_ASIDE = re.compile(r"\([^()]*\)|<[^<>]*>|\[[^\[\]]*\]")
_HAN = re.compile(r"[\u3400-\u9fff·]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A student of the roster; `ids` are all columns as they stand there."""

    student: str
    name: str | None
    ids: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The members that a naming means: a group has several; none for a stranger.

    Args:
        reason: why it is nobody's although the roster holds the name: `[bulk.reason]`.
    """

    members: tuple[Member, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """The class, and which member each id, address or name belongs to.

    Args:
        by_id: for each column in lower case, the member of each value.
        by_number: the same for numbers without the zeros before them.
        by_name: the members of each name, in every way that a platform writes it.
        substituted: members without an id in the column of ids, known by another one.
    """

    members: tuple[Member, ...] = ()
    by_id: Mapping[str, Mapping[str, Member]] = field(default_factory=dict)
    by_number: Mapping[str, Mapping[str, tuple[Member, ...]]] = field(default_factory=dict)
    by_name: Mapping[str, tuple[Member, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[Member, ...]] = field(default_factory=dict)
    substituted: tuple[str, ...] = ()

    def find(self, named: Named) -> Found:
        """The members that a file's naming means: by id, by a name that one has, by a group."""
        if named.system == "free":
            return self._free(named)
        columns = [each for each in _COLUMNS[named.system] if each in self.by_id]
        key = _plain(named.student)
        for column in columns or self._only():
            if member := self._of_id(column, key):
                team = self.groups.get(_squeezed(named.name or ""), ())
                # The name alone would let anybody hand in for any group.
                return Found(members=team if member in team else (member,))
        if group := self.groups.get(_squeezed(named.student)):
            return Found(members=group)
        if named.name is None:
            return Found()
        known = [
            each
            for each in self.by_name.get(_squeezed(named.name), ())
            # Who has an id of that system is found by it or not at all.
            if not any(_value(each, column) for column in columns)
        ]
        return _one(known)

    def alike(self, named: Named) -> Member | None:
        """The member with the name of a stranger: the two may be one."""
        found = self.by_name.get(_squeezed(named.name or ""), ())
        return found[0] if len(found) == 1 else None

    def _only(self) -> list[str]:
        """The one column of ids, where it may be of any system."""
        columns = [each for each in self.by_id if each not in (*MAIL, "student")]
        return columns if len(columns) == 1 else []

    def _free(self, named: Named) -> Found:
        text = labels.plain(" ".join(each for each in (named.student, named.name) if each))
        if group := self.groups.get(_squeezed(named.student)):
            return Found(members=group)
        whole, names = _plain(named.student), self._named(text, named.name or "")
        words = {_plain(each) for each in re.findall(r"[^\W_]+", text) if re.search(r"\d", each)}
        words |= {_plain(each) for each in _ADDRESS.findall(text)}
        known: dict[str, Member] = {}
        for key in (whole, *sorted(words)):
            # A small number may be anything's: a week's, a version's.
            weak = key != whole and key.isdigit() and len(key) < 4
            for column in self.by_id:
                member = self._of_id(column, key)
                if member is not None and (not weak or member in names):
                    known[member.student] = member
        known = known or {each.student: each for each in self._without_letters(text)}
        if len(known) > 1:
            return Found(reason="two_ids")
        if known:
            (member,) = known.values()
            if names and member not in names:
                return Found(reason="contradiction")
            return Found(members=(member,))
        if named.name is not None and self._has_numbers():
            # Another number: another person of that name.
            return Found()
        return _one(names)

    def _without_letters(self, text: str) -> list[Member]:
        """By the number in `s1234567`, of columns in which nobody has a letter."""
        numbers = set(re.findall(r"(?<!\d)\d{5,}(?!\d)", text))
        columns = [each for each in self.by_id.values() if all(id_.isdigit() for id_ in each)]
        return [each[number] for each in columns for number in sorted(numbers) if number in each]

    def _of_id(self, column: str, key: str) -> Member | None:
        """Who has an id; a spreadsheet may have taken the zeros before it."""
        exact = self.by_id[column].get(key)
        alike = self.by_number.get(column, {}).get(key.lstrip("0"), ()) if key.isdigit() else ()
        return exact or (alike[0] if len(alike) == 1 else None)

    def _has_numbers(self) -> bool:
        return any(
            each.isdigit() and len(each) > 3 for ids in self.by_number.values() for each in ids
        )

    def _named(self, text: str, name: str) -> list[Member]:
        parts = [
            text,
            labels.plain(name),
            *_HAN.findall(text),
            *_BETWEEN.split(text),
            _ASIDE.sub(" ", text),
        ]
        keys = dict.fromkeys(map(_squeezed, parts))
        found = [member for key in keys for member in self.by_name.get(key, ())]
        return list({each.student: each for each in found}.values())


def read(path: Path) -> Roster:
    """The roster in a CSV or .xlsx file; any delimiter that spreadsheets write, titles above.

    Raises:
        UsageProblem: it cannot be read, has no column with ids, or contradicts itself.
    """
    rows = sheets.rows(path)
    at = next((at for at, row in enumerate(rows[:20]) if _id_columns(_head(row))), None)
    if at is None:
        found = _head(rows[0]) if rows else []
        known = list(IDS)
        raise UsageProblem(_text("roster_columns", file=str(path), found=found, known=known))
    head = _head(rows[at])
    columns = _id_columns(head)
    members: list[Member] = []
    substituted: list[str] = []
    for row in rows[at + 1 :]:
        ids = {key: headers.value(cell) for key, cell in zip(head, row, strict=False)}
        name = _name(ids)
        if (name or "").strip().lower() in _NO_PEOPLE:
            continue
        # A name is an id only where there is no other.
        usable = columns[:1] + _substitutes(columns)
        student = next((ids[each] for each in usable if ids.get(each)), None)
        first = next(cell.strip() for cell in row if cell.strip())
        if student is None or (headers.is_total(first) and not name):
            continue
        if not ids.get(columns[0]):
            substituted.append(student)
        members.append(
            Member(
                student=headers.participant(student)
                if headers.known(columns[0]) == "identifier"
                else student,
                name=name,
                ids={key: value for key, value in ids.items() if key},
            )
        )
    return _built(path, members, columns, tuple(substituted))


def _built(
    path: Path, members: Sequence[Member], columns: Sequence[str], substituted: tuple[str, ...]
) -> Roster:
    seen: set[str] = set()
    for each in members:
        if each.student in seen:
            raise UsageProblem(_text("roster_twice", file=str(path), student=each.student))
        seen.add(each.student)
    by_id: dict[str, dict[str, Member]] = {}
    for column in columns:
        if headers.known(column) == "student" and len(columns) > 1:
            continue
        values = by_id.setdefault(headers.known(column), {})
        for each in members:
            value = _plain(headers.participant(each.ids.get(column, "")))
            other = values.setdefault(value, each) if value else each
            if other is not each:
                args = {"file": str(path), "column": column, "value": value}
                both = [other.student, each.student]
                raise UsageProblem(_text("roster_contradiction", **args, students=both))
    return Roster(
        members=tuple(members),
        by_id=by_id,
        by_number={column: _unpadded(values) for column, values in by_id.items()},
        by_name=_index(members),
        groups=_groups(members),
        substituted=substituted,
    )


def _head(row: Sequence[str]) -> list[str]:
    return [labels.plain(cell).strip().removeprefix("\ufeff") for cell in row]


def _id_columns(head: Sequence[str]) -> list[str]:
    """The columns with ids, the one that decides first."""
    found = [each for each in head if headers.known(each) in IDS]
    return sorted(found, key=lambda each: IDS.index(headers.known(each)))


def _substitutes(columns: Sequence[str]) -> list[str]:
    """The columns that stand in for the first, the platform's own before logins and addresses."""
    own = ("id", "canvas_id", "identifier")
    others = [each for each in columns[1:] if headers.known(each) != "student"]
    return sorted(others, key=lambda each: headers.known(each) not in own)


def _name(ids: Mapping[str, str]) -> str | None:
    known = {headers.known(key): value for key, value in ids.items() if value}
    whole = next((known[key] for key in NAMES if key in known), "")
    parts = [known[key] for key in (headers.FIRST, headers.LAST) if key in known]
    # German rosters call the surname `Name`.
    rest = [each for each in parts if each.casefold() not in whole.casefold()]
    return " ".join([*rest, whole]).strip() or None


def _groups(members: Sequence[Member]) -> dict[str, tuple[Member, ...]]:
    found: dict[str, tuple[Member, ...]] = {}
    for each in members:
        for key, value in each.ids.items():
            if headers.known(key) in GROUPS and value:
                found[_squeezed(value)] = (*found.get(_squeezed(value), ()), each)
    return found


def _unpadded(ids: Mapping[str, Member]) -> dict[str, tuple[Member, ...]]:
    found: dict[str, tuple[Member, ...]] = {}
    for value, member in ids.items():
        if value.isdigit():
            bare = value.lstrip("0")
            found[bare] = (*found.get(bare, ()), member)
    return found


def _index(members: Sequence[Member]) -> dict[str, tuple[Member, ...]]:
    """Each name as it stands, and with the surnames, however many, before or behind the others."""
    found: dict[str, tuple[Member, ...]] = {}
    for member in members:
        words = re.split(r"[\s,，]+", member.name or "")
        turned = ["".join(words[at:] + words[:at]) for at in range(len(words))]
        for key in dict.fromkeys(map(_squeezed, turned)):
            if len(key) > 1:
                found[key] = (*found.get(key, ()), member)
    return found


def _one(members: Sequence[Member]) -> Found:
    if len(members) > 1:
        alike = len({"".join(sorted(_squeezed(each.name or ""))) for each in members}) == 1
        return Found(reason="two_of_one_name" if alike else "two_names")
    return Found(members=tuple(members))


def _value(member: Member, column: str) -> str:
    return next((value for key, value in member.ids.items() if headers.known(key) == column), "")


def _plain(value: str) -> str:
    # Marks of the direction of writing, as they are or written out, are nobody's letters.
    return labels.plain(_DIRECTION.sub("", value)).strip().casefold()


def _squeezed(name: str) -> str:
    """`lovelaceada` of `Lovelace, Ada`: how Canvas writes a name into a file's name."""
    return "".join(char for char in labels.without_accents(_plain(name)) if char.isalnum())


def _text(code: str, **args: object) -> object:
    return catalog.text(f"bulk.{code}", **args)  # type: ignore[arg-type]
