"""misconceptions.toml, read strictly: the wrong answers of an assignment's gallery.

Only the staff edition has this file: students get the numbers by which a misconception is
recognised, never its code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from grader.model import Change, Text
from grader.strict import Value, did_you_mean, read_toml, shown

FILE: Final = "misconceptions.toml"
FOLDER: Final = "gallery/misconceptions"

_ID = r"[a-z][a-z0-9_-]{0,63}"
_ID_WORDS = "lower-case letters, digits, - and _, a letter first, at most 64"
_FILE_WORDS = "the name of a file in gallery/misconceptions, e.g. base_ignored.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misconception:
    """A known wrong answer.

    Args:
        title: which mistake it is; `hint` leads a student to it without giving the code.
        earns: the ids of the criteria that it still earns.
        file: its code, in `gallery/misconceptions/`.
        twins: other misconceptions that no numbers can tell from this one; both ways.
        source: where the mistake was seen.
        acts: changes of the arguments that make the reference give the same numbers, by
            parameter; from them numbers of misconceptions that act together are generated.
        combines: whether it can also be the other half of such a pair.
    """

    id: str
    title: Text
    hint: Text
    earns: tuple[str, ...]
    file: str
    twins: tuple[str, ...] = ()
    source: str | None = None
    acts: Mapping[str, Change] = field(default_factory=dict)
    combines: bool = False


def read(
    folder: Path, assignment: str, criteria: Sequence[str], problems: list[str]
) -> tuple[Misconception, ...]:
    """The misconceptions of the assignment in `folder`; none where it has no such file.

    Args:
        criteria: the ids of its rubric.
        problems: where to write what is wrong.
    """
    if not (folder / FILE).is_file():
        return ()
    paper = read_toml(folder / FILE, problems)
    if paper is None:
        return ()
    part = paper.keys(required=("misconceptions",))
    rows = [_row(item) for item in part["misconceptions"].items()] if part else []
    found = [_misconception(row, assignment) for row in rows]
    _refuse_doubles(rows, found)
    for row in rows:
        _known(row.get("earns"), criteria, "criterion")
        _known(row.get("twins"), [each.id for each in found], "misconception")
    return tuple(_with_both_ways(each, found) for each in found)


def _row(item: Value) -> dict[str, Value]:
    return item.keys(
        required=("id", "title", "hint", "earns"),
        optional=("file", "twins", "source", "acts", "combines"),
    )


def _misconception(row: Mapping[str, Value], assignment: str) -> Misconception:
    id = row["id"].matching(_ID, _ID_WORDS) if "id" in row else ""
    code = f"{assignment}.misconception.{id}"
    pattern = r"[A-Za-z0-9_-][A-Za-z0-9_.-]*\.py"
    return Misconception(
        id=id,
        title=_both(row, "title", f"{code}.title"),
        hint=_both(row, "hint", f"{code}.hint"),
        earns=_ids(row, "earns"),
        file=row["file"].matching(pattern, _FILE_WORDS) if "file" in row else f"{id}.py",
        twins=_ids(row, "twins"),
        source=row["source"].text() if "source" in row else None,
        acts=_acts(row["acts"]) if "acts" in row else {},
        combines=row["combines"].boolean() if "combines" in row else False,
    )


def _acts(table: Value) -> dict[str, Change]:
    """`{ base = { omit = true } }`, `{ positions = { plus = 1, counted = ["x", -2] } }`."""
    return {name: _change(value) for name, value in table.entries().items()}


def _change(value: Value) -> Change:
    part = value.keys(optional=("omit", "put", "times", "plus", "counted"))
    counted = part["counted"].items(least=2) if "counted" in part else []
    return Change(
        omit=part["omit"].boolean() if "omit" in part else False,
        put=part["put"].number() if "put" in part else None,
        times=part["times"].number() if "times" in part else 1,
        plus=part["plus"].number() if "plus" in part else 0,
        counted=(counted[0].name(), counted[1].integer(least=-8, most=7))
        if len(counted) > 1
        else None,
    )


def _both(row: Mapping[str, Value], key: str, code: str) -> Text:
    """The sentence in both languages; without a Chinese one the English stands in."""
    if key not in row:
        return Text(code=code, en="", zh="")
    languages = row[key].keys(required=("en",), optional=("zh",))
    en = languages["en"].text() if "en" in languages else ""
    return Text(code=code, en=en, zh=languages["zh"].text() if "zh" in languages else en)


def _ids(row: Mapping[str, Value], key: str) -> tuple[str, ...]:
    names: list[str] = []
    for item in row[key].items() if key in row else ():
        name = item.text()
        if name and name in names:
            item.say(f"{shown(name)} is listed twice")
        names.append(name)
    return tuple(names)


def _refuse_doubles(rows: Sequence[Mapping[str, Value]], found: Sequence[Misconception]) -> None:
    for at, (row, each) in enumerate(zip(rows, found, strict=True)):
        if "id" in row and each.id and each.id in [other.id for other in found[:at]]:
            row["id"].say(f"{shown(each.id)} is listed twice")
        if "file" in row and each.file in [other.file for other in found[:at]]:
            row["file"].say(f"{shown(each.file)} belongs to another misconception already")
        if "twins" in row and each.id in each.twins:
            row["twins"].say("a misconception is not its own twin")


def _known(listed: Value | None, known: Sequence[str], noun: str) -> None:
    if listed is None or not isinstance(listed.seen, list):
        return  # said already
    for item in listed.items():
        if isinstance(item.seen, str) and item.seen not in known:
            item.say(f"no {noun} {shown(item.seen)}{did_you_mean(item.seen, known)}")


def _with_both_ways(each: Misconception, found: Sequence[Misconception]) -> Misconception:
    named_by = [other.id for other in found if each.id in other.twins and other.id != each.id]
    return replace(each, twins=tuple(dict.fromkeys([*each.twins, *named_by])))
