"""The list of the class: who should have handed in, and their ids in other systems."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from unicodedata import normalize

from grader.bulk import labels, sheets
from grader.bulk.platforms import Named, System
from grader.errors import UsageProblem
from grader.texts import catalog

# The first of these columns that is there holds the id under which a student is known here.
_IDS: Final = (
    "student_id",
    "student id",
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
    "canvas_id",
    "email",
    "email address",
    "student",
    "学号",
)
_NAMES: Final = ("name", "full name", "student", "姓名")
_GROUPS: Final = ("group", "group name", "group_name", "team", "小组", "组别")
_MAIL: Final = ("email", "email address")
# Whose ids stand in which column. An id is looked up among those of its own system only.
_COLUMNS: Final[Mapping[System, tuple[str, ...]]] = {
    "canvas": ("id", "canvas_id", "canvas user id"),
    "canvas_anonymous": ("anonymous id", "anonymous_id"),
    "gradescope": ("sid", "student_id", "student id", "sis user id", *_MAIL),
    "moodle": ("identifier", "participant"),
    "blackboard": ("username", "user name", "login", "login_id", "sis login id"),
    "brightspace": ("brightspace_id", "brightspace id"),
    "nbgrader": ("student_id", "student id", "username", "login", "login_id", "id", *_MAIL),
    "github": ("github_username", "github username", "github"),
}
_NO_PEOPLE: Final = ("points possible", "student, test", "test student")
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
        by_name: the members of each name, in every way that a platform writes it.
        substituted: members without an id in the column of ids, known by another one.
    """

    members: tuple[Member, ...] = ()
    by_id: Mapping[str, Mapping[str, Member]] = field(default_factory=dict)
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
            if member := self.by_id[column].get(key):
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
        columns = [each for each in self.by_id if each not in (*_MAIL, "student")]
        return columns if len(columns) == 1 else []

    def _free(self, named: Named) -> Found:
        text = labels.plain(" ".join(each for each in (named.student, named.name) if each))
        if group := self.groups.get(_squeezed(named.student)):
            return Found(members=group)
        whole, names = _plain(named.student), self._named(text, named.name or "")
        ids = [column[whole] for column in self.by_id.values() if whole in column]
        words = {_plain(each) for each in re.findall(r"[^\W_]+", text) if re.search(r"\d", each)}
        ids += [c[word] for c in self.by_id.values() for word in sorted(words) if word in c]
        ids = ids or self._without_letters(text)
        known = {each.student: each for each in ids}
        if len(known) > 1:
            return Found(reason="two_ids")
        if known:
            (member,) = known.values()
            if names and member not in names:
                return Found(reason="contradiction")
            return Found(members=(member,))
        return _one(names)

    def _without_letters(self, text: str) -> list[Member]:
        """By the number in `s1234567`, of columns in which nobody has a letter."""
        numbers = set(re.findall(r"(?<!\d)\d{5,}(?!\d)", text))
        columns = [each for each in self.by_id.values() if all(id_.isdigit() for id_ in each)]
        return [each[number] for each in columns for number in sorted(numbers) if number in each]

    def _named(self, text: str, name: str) -> list[Member]:
        keys = [_squeezed(text), _squeezed(name), *(_squeezed(run) for run in _HAN.findall(text))]
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
        known = list(_IDS)
        raise UsageProblem(_text("roster_columns", file=str(path), found=found, known=known))
    head = _head(rows[at])
    columns = _id_columns(head)
    members: list[Member] = []
    substituted: list[str] = []
    for row in rows[at + 1 :]:
        ids = {key: normalize("NFC", value.strip()) for key, value in zip(head, row, strict=False)}
        name = _name(ids)
        if (name or "").strip().lower() in _NO_PEOPLE:
            continue
        # A name is an id only where there is no other.
        usable = columns[:1] + _substitutes(columns)
        student = next((ids[each] for each in usable if ids.get(each)), None)
        if student is None:
            continue
        if not ids.get(columns[0]):
            substituted.append(student)
        members.append(
            Member(
                student=_participant(student) if _known(columns[0]) == "identifier" else student,
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
        if _known(column) == "student" and len(columns) > 1:
            continue
        values = by_id.setdefault(_known(column), {})
        for each in members:
            value = _plain(_participant(each.ids.get(column, "")))
            other = values.setdefault(value, each) if value else each
            if other is not each:
                args = {"file": str(path), "column": column, "value": value}
                both = [other.student, each.student]
                raise UsageProblem(_text("roster_contradiction", **args, students=both))
    return Roster(
        members=tuple(members),
        by_id=by_id,
        by_name=_index(members),
        groups=_groups(members),
        substituted=substituted,
    )


def _head(row: Sequence[str]) -> list[str]:
    return [labels.plain(cell).strip().removeprefix("\ufeff") for cell in row]


def _id_columns(head: Sequence[str]) -> list[str]:
    """The columns with ids, the one that decides first."""
    found = [each for each in head if _known(each) in _IDS]
    return sorted(found, key=lambda each: _IDS.index(_known(each)))


def _substitutes(columns: Sequence[str]) -> list[str]:
    """The columns that stand in for the first, the platform's own before logins and addresses."""
    own = ("id", "canvas_id", "identifier")
    others = [each for each in columns[1:] if _known(each) != "student"]
    return sorted(others, key=lambda each: _known(each) not in own)


def _known(column: str) -> str:
    """The column as the lists above write it."""
    plain = " ".join(column.lower().split())
    if "学号" in plain or plain in ("学生编号", "学生id"):
        return "学号"
    return "姓名" if "姓名" in plain or plain == "名字" else plain


def _name(ids: Mapping[str, str]) -> str | None:
    known = {_known(key): value for key, value in ids.items() if value}
    parts = [known[key] for key in ("first name", "last name") if key in known]
    whole = next((known[key] for key in _NAMES if key in known), None)
    return whole or " ".join(parts) or None


def _groups(members: Sequence[Member]) -> dict[str, tuple[Member, ...]]:
    found: dict[str, tuple[Member, ...]] = {}
    for each in members:
        for key, value in each.ids.items():
            if _known(key) in _GROUPS and value:
                found[_squeezed(value)] = (*found.get(_squeezed(value), ()), each)
    return found


def _index(members: Sequence[Member]) -> dict[str, tuple[Member, ...]]:
    found: dict[str, tuple[Member, ...]] = {}
    for member in members:
        words = re.split(r"[\s,，]+", member.name or "")
        turned = "".join([words[-1], *words[:-1]])
        for key in dict.fromkeys((_squeezed(member.name or ""), _squeezed(turned))):
            if len(key) > 1:
                found[key] = (*found.get(key, ()), member)
    return found


def _one(members: Sequence[Member]) -> Found:
    if len(members) > 1:
        return Found(reason="two_of_one_name")
    return Found(members=tuple(members))


def _value(member: Member, column: str) -> str:
    return next((value for key, value in member.ids.items() if _known(key) == column), "")


def _participant(value: str) -> str:
    """`12345` of `Participant 12345`, as Moodle's grading worksheet writes it."""
    return re.sub(r"^participant\s+", "", value, flags=re.IGNORECASE)


def _plain(value: str) -> str:
    return labels.plain(value).strip().casefold()


def _squeezed(name: str) -> str:
    """`lovelaceada` of `Lovelace, Ada`: how Canvas writes a name into a file's name."""
    return "".join(char for char in labels.without_accents(_plain(name)) if char.isalnum())


def _text(code: str, **args: object) -> object:
    return catalog.text(f"bulk.{code}", **args)  # type: ignore[arg-type]
