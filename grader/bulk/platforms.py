"""Who handed in one item of an export: the naming of each platform, read from its own end.

A platform writes its own part first, and the student's name for the file last. Therefore all of
these rules read from the left and take the first match: what a student calls a file comes later.

Canvas       lovelaceada_LATE_12345_67890_hw4-1.ipynb   (LATE and -1 only where it applies)
             lovelaceada_12345_text.html, anon_x7Yz1_67890_hw4.py, team_3_12345_67890_hw4.py
Moodle       Ada Lovelace_12345_assignsubmission_file_/hw4.ipynb   (or one flat name)
Blackboard   Homework 1_ada_attempt_2026-03-01-20-11-12_hw4.py
Brightspace  397063-2557369 - Ada Lovelace - Mar 1, 2026 926 PM/hw4.py
nbgrader     ada+hw4+2026-03-01 10:00:00 UTC/hw4.ipynb   (an exchange's inbound folder)
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from grader.bulk.labels import copy_number, number_and_name
from grader.bulk.moments import in_utc, wall_clock

METADATA = "submission_metadata.yml"
TIMESTAMP = "timestamp.txt"

System = Literal[
    "canvas",
    "canvas_anonymous",
    "gradescope",
    "moodle",
    "blackboard",
    "brightspace",
    "nbgrader",
    "github",
    "free",
]

# Whoever the name is: no `_`, which is what separates the parts.
_CANVAS_HEAD = r"(?P<name>[\W\d]*+[^\W\d_][^_]*+)(?P<late>_LATE)?_(?P<student>\d{1,20})"
_CANVAS = re.compile(_CANVAS_HEAD + r"_(?P<number>\d{1,20})_(?P<file>.+)", re.DOTALL)
_CANVAS_TEXT = re.compile(_CANVAS_HEAD + r"_(?P<file>(?:text|link|media)\.html)", re.DOTALL)
_CANVAS_ANONYMOUS = re.compile(
    r"anon(?P<late>_LATE)?_(?P<student>[^\W_]{1,20})(?:_(?P<number>\d{1,20}))?_(?P<file>.+)",
    re.DOTALL,
)
_MOODLE = re.compile(
    r"(?P<name>[^_]+)_(?P<student>\d{1,20})_assignsubmission_(?P<kind>[a-z]+)(?:[_.](?P<file>.*))?",
    re.DOTALL,
)
_BLACKBOARD = re.compile(
    r"_attempt_(?P<moment>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)?", re.DOTALL
)
_BRIGHTSPACE = re.compile(
    r"(?P<student>\d{1,20})-\d{1,20} - (?P<name>[^\W\d_].*?) - "
    r"(?=[^-]*\d)(?P<moment>(?:[^-]|(?<=\d)-(?=\d)){6,40}?)(?: - (?P<file>.+))?",
    re.DOTALL,
)
_EXCHANGE = re.compile(
    r"(?P<student>[^+]+)\+(?P<assignment>[^+]+)\+"
    r"(?P<moment>\d{4}-\d\d-\d\d [^+]+(?:\+\d\d:?\d\d)?)(?:\+.*)?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the naming says about a file.

    Args:
        file: the file's own name, as the student knows it.
        hint: the assignment as the export calls it.
        copy: of several with one name, the later has the higher number.
        system: whose id `student` is; `free` where no platform wrote it.
        order: sorts the attempts of one student where the export gives no moment in UTC.
        undated: the export gives a time that names no moment (it has no time zone).
    """

    student: str
    file: str
    name: str | None = None
    hint: str | None = None
    late: bool = False
    submitted_at: str | None = None
    copy: int = 0
    system: System = "free"
    order: str = ""
    undated: bool = False


class Rule(Protocol):
    """Reads the name of an item, without `.zip`; `folder` when something lies in it."""

    def __call__(self, part: str, *, folder: bool) -> Named | None: ...


def canvas(part: str, *, folder: bool) -> Named | None:  # noqa: ARG001
    online = _CANVAS_TEXT.fullmatch(part)
    anonymous = _CANVAS_ANONYMOUS.fullmatch(part)
    found = _CANVAS.fullmatch(part) or online or anonymous
    if found is None:
        return None
    nobody = found is anonymous
    number = found.groupdict().get("number") or ""
    return Named(
        student=found["student"],
        name=None if nobody else found["name"],
        file=found["file"],
        late=found["late"] is not None,
        copy=copy_number(found["file"]),
        system="canvas_anonymous" if nobody else "canvas",
        order=number.zfill(20) if number else "",
    )


def moodle(part: str, *, folder: bool) -> Named | None:  # noqa: ARG001
    found = _MOODLE.fullmatch(part)
    if found is None:
        return None
    file = found["file"] or part
    return Named(
        student=found["student"],
        name=found["name"],
        file=file,
        copy=copy_number(file),
        system="moodle",
    )


def blackboard(part: str, *, folder: bool) -> Named | None:  # noqa: ARG001
    found = _BLACKBOARD.search(part)
    assignment, _, student = part[: found.start()].partition("_") if found else ("", "", "")
    if found is None or not student or not assignment or found.end() != len(part):
        return None
    return Named(
        student=student,
        file=found["file"] or part,
        copy=copy_number(found["file"] or part),
        system="blackboard",
        order=found["moment"],
        undated=True,
    )


def brightspace(part: str, *, folder: bool) -> Named | None:
    found = _BRIGHTSPACE.fullmatch(part)
    if found is None or (found["file"] is None and not folder):
        return None
    return Named(
        student=found["student"],
        name=found["name"],
        file=found["file"] or part,
        copy=copy_number(found["file"] or ""),
        system="brightspace",
        order=wall_clock(found["moment"]),
        undated=True,
    )


def exchange(part: str, *, folder: bool) -> Named | None:
    found = _EXCHANGE.fullmatch(part)
    if found is None or not folder:
        return None
    moment = in_utc(found["moment"])
    return Named(
        student=found["student"],
        file=part,
        hint=found["assignment"],
        submitted_at=moment,
        system="nbgrader",
        order=found["moment"],
        undated=moment is None,
    )


RULES: Final[Mapping[str, Rule]] = {
    "canvas": canvas,
    "moodle": moodle,
    "blackboard": blackboard,
    "brightspace": brightspace,
    "exchange": exchange,
}


def canvas_groups(parts: Sequence[str]) -> dict[str, Named]:
    """Of each name whose group is called `team_3`: whose file it is.

    `team_3_10101_880001_hw1.py` can be read in two ways, and a student can make a name for a file
    that looks like the second. The first reading is what Canvas writes for a person; it is given
    up only where both of its numbers are shorter than those of all names that can be read in one
    way only, and where nobody else has the id of the second.
    """
    readings = {part: _canvas_readings(part) for part in parts}
    sure = [found[0] for found in readings.values() if len(found) == 1]
    if not sure:
        return _numbered_groups(readings)
    least_id = min(len(each.student) for each in sure)
    least_number = min(len(each.order.lstrip("0")) for each in sure)
    owners = {each.student: each.name for each in sure}
    decided: dict[str, Named] = {}
    for part, found in readings.items():
        short = [
            each
            for each in found
            if len(each.student) >= least_id and len(each.order.lstrip("0")) >= least_number
        ]
        if found and found[0] not in short and short and short[0].student not in owners:
            decided[part] = short[0]
        elif found:
            decided[part] = found[0]
    return decided


def _numbered_groups(readings: Mapping[str, Sequence[Named]]) -> dict[str, Named]:
    """Where every group is called `team_3`: one word and small numbers in place of ids."""
    first = [found[0] for found in readings.values() if found]
    groups = len({each.name for each in first}) == 1 and len({each.student for each in first}) > 1
    small = max((len(each.student) for each in first), default=0) < 4
    ids = min((len(f[1].student) for f in readings.values() if len(f) > 1), default=0)
    at = 1 if groups and small and ids > 3 and all(len(f) > 1 for f in readings.values()) else 0
    return {part: found[at] for part, found in readings.items() if found}


def _canvas_readings(part: str) -> list[Named]:
    """Each way to find `…_<id>_<number>_<file>` in a name, from the left; at most three."""
    words = part.split("_")
    found: list[Named] = []
    for at in range(1, min(len(words) - 2, 12)):
        student, number = words[at], words[at + 1]
        if not (_is_number(student) and _is_number(number)) or len(found) == 3:
            continue
        late = words[at - 1] == "LATE" and at > 1
        name = "_".join(words[: at - 1] if late else words[:at])
        file = "_".join(words[at + 2 :])
        if file and any(char.isalpha() for char in name):
            found.append(
                Named(
                    student=student,
                    name=name,
                    file=file,
                    late=late,
                    copy=copy_number(file),
                    system="canvas",
                    order=number.zfill(20),
                )
            )
    return found


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 20


def of_blackboard(names: Sequence[str]) -> dict[str, Named]:
    """Of each name whose it is; an assignment may be called `HW_1`, which all names begin with."""
    found = {name: read for name in names if (read := blackboard(name, folder=False)) is not None}
    parts = [each.student.split("_") for each in found.values()]
    shared = 0
    for at, segment in enumerate(min(parts, key=len, default=[])[:-1]):
        if any(each[at] != segment for each in parts):
            break
        # No user name begins with a bare number or has a space in it.
        if segment.isdigit() or " " in segment:
            shared = at + 1
    return {
        name: replace(each, student="_".join(each.student.split("_")[shared:]))
        for name, each in found.items()
    }


def free(
    student: str,
    *,
    file: str,
    hint: str | None,
    system: System = "free",
    numbers: Collection[str] = (),
) -> Named:
    """Somebody whose name nobody but whoever made the folder wrote."""
    both = number_and_name(student, numbers) if system == "free" else None
    number, name = both if both is not None else (student, None)
    return Named(
        student=number,
        name=name,
        file=file,
        hint=hint,
        copy=copy_number(file),
        system=system,
    )


def of_file(owner: Named, file: str) -> Named:
    """The owner of a folder, for a file in it."""
    return replace(owner, file=file, copy=copy_number(file))
