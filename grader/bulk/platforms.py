"""Who handed in a file, from the naming of the platform that exported it.

Gradescope   submission_metadata.yml beside the folders submission_1234/…
Canvas       lovelaceada_LATE_12345_67890_hw4-1.ipynb   (LATE and -1 only where it applies)
Moodle       Ada Lovelace_12345_assignsubmission_file_/hw4.ipynb   (or one flat name)
nbgrader     submitted/ada/hw4/hw4.ipynb beside timestamp.txt · ada+hw4+2026-03-01 … UTC/…
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.bulk.moments import in_utc

METADATA = "submission_metadata.yml"
TIMESTAMP = "timestamp.txt"

_CANVAS = re.compile(
    r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<student>\d+)_\d+_(?P<file>.+)", re.DOTALL
)
_CANVAS_ANONYMOUS = re.compile(
    r"anon(?P<late>_LATE)?_(?P<student>\w+?)_\d+_(?P<file>.+)", re.DOTALL
)
_MOODLE = re.compile(
    r"(?P<name>.+)_(?P<student>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.DOTALL
)
_EXCHANGE = re.compile(
    r"(?P<student>.+?)\+(?P<assignment>[^+]+)\+(?P<moment>\d{4}-\d\d-\d\d [^+]+)(?:\+.*)?",
    re.DOTALL,
)
_COPY = re.compile(r"(?:\((\d+)\)|[- ]*-\s*Copy\s*(\d*)|-(\d+))$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the naming says about a file.

    Args:
        file: the file's own name, as the student knows it.
        hint: the assignment as the export calls it.
        copy: of several with one name, the later has the higher number.
    """

    student: str
    file: str
    name: str | None = None
    hint: str | None = None
    late: bool = False
    submitted_at: str | None = None
    copy: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Clues:
    """What was read beside the submissions, by the folder that it is about."""

    gradescope: Mapping[tuple[str, ...], tuple[Named, ...]]
    timestamps: Mapping[tuple[str, ...], str]


def named(parts: Sequence[str], clues: Clues) -> tuple[Named, ...] | None:
    """Who handed in the file at `parts` (a group: several), or None for no known naming.

    Empty where it is nobody's submission: Moodle's online texts.
    """
    file = parts[-1]
    for end in range(1, len(parts)):
        submitters = clues.gradescope.get(tuple(parts[:end]))
        if submitters is not None:
            return tuple(_of_file(each, file) for each in submitters)
    for at, part in enumerate(parts):
        own = part if at == len(parts) - 1 else part.removesuffix(".zip")
        for rule in (_moodle, _canvas, _exchange):
            found = rule(own, file if own != part or at < len(parts) - 1 else None)
            if found is not None:
                return found
    return _nbgrader(parts, clues)


def copy_number(file: str) -> int:
    """2 for `hw1 (2).py`, 1 for `hw1-1.py` and `hw1 - Copy.py`, 0 for `hw1.py`."""
    found = _COPY.search(file.rpartition(".")[0] or file)
    if found is None:
        return 0
    digits = next((group for group in found.groups() if group), "1")
    return int(digits[:9])


def _of_file(submitter: Named, file: str) -> Named:
    return Named(
        student=submitter.student,
        name=submitter.name,
        submitted_at=submitter.submitted_at,
        file=file,
        copy=copy_number(file),
    )


def _canvas(part: str, inner: str | None) -> tuple[Named, ...] | None:
    found = _CANVAS_ANONYMOUS.fullmatch(part) or _CANVAS.fullmatch(part)
    if found is None:
        return None
    file = found["file"]
    return (
        Named(
            student=found["student"],
            name=found.groupdict().get("name"),
            file=inner or file,
            late=found["late"] is not None,
            copy=copy_number(file),
        ),
    )


def _moodle(part: str, inner: str | None) -> tuple[Named, ...] | None:
    found = _MOODLE.fullmatch(part)
    if found is None:
        return None
    if found["kind"] != "file":
        return ()
    file = inner or found["file"] or part
    return (Named(student=found["student"], name=found["name"], file=file, copy=copy_number(file)),)


def _exchange(part: str, inner: str | None) -> tuple[Named, ...] | None:
    found = _EXCHANGE.fullmatch(part)
    if found is None or inner is None:
        return None
    return (
        Named(
            student=found["student"],
            file=inner,
            hint=found["assignment"],
            submitted_at=in_utc(found["moment"]),
            copy=copy_number(inner),
        ),
    )


def _nbgrader(parts: Sequence[str], clues: Clues) -> tuple[Named, ...] | None:
    """`<student>/<assignment>/…`, below `submitted` or with a timestamp as the proof."""
    at = parts.index("submitted") + 1 if "submitted" in parts else None
    stamped = [end for end in range(2, len(parts)) if tuple(parts[:end]) in clues.timestamps]
    if stamped:
        at = stamped[0] - 2
    if at is None or len(parts) - at < 3:
        return None
    return (
        Named(
            student=parts[at],
            hint=parts[at + 1],
            file=parts[-1],
            submitted_at=clues.timestamps.get(tuple(parts[: at + 2])),
            copy=copy_number(parts[-1]),
        ),
    )


# --- Gradescope's metadata -----------------------------------------------------------------


def gradescope(text: str) -> dict[str, tuple[Named, ...]]:
    """The submitters of each folder, from the text of `submission_metadata.yml`.

    Only two keys of each submission are handed to the YAML parser: the file also holds every
    result of every attempt, and parsing all of it takes minutes for a large class.
    """
    submissions: dict[str, tuple[Named, ...]] = {}
    folder, key = "", ""
    lines: list[str] = []
    for line in [*text.splitlines(), "end:"]:
        if line[:1].strip():
            if submitters := _submitters("\n".join(lines)):
                submissions[folder] = submitters
            folder, key, lines = line.rstrip().rstrip(":").strip("'\""), "", []
            continue
        # A list stands at the indentation of its key; everything else is deeper.
        if line.startswith("  ") and line[2:3].strip() and line[2] != "-":
            key = line.strip().partition(": ")[0].rstrip(":")
        if key in (":submitters", ":created_at"):
            lines.append(line)
    return submissions


def _submitters(text: str) -> tuple[Named, ...]:
    import yaml  # type: ignore[import-untyped,unused-ignore]

    try:
        # Only text comes out of this loader, whatever the tags say: `0012` stays `0012`.
        said = yaml.load(text, yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return ()
    if not isinstance(said, dict) or not isinstance(said.get(":submitters"), list):
        return ()
    moment = in_utc(str(said.get(":created_at", "")))
    people = [each for each in said[":submitters"] if isinstance(each, dict)]
    found = []
    for person in people:
        student = next(
            (str(person[key]) for key in (":sid", ":email", ":name") if person.get(key)), None
        )
        if student is not None:
            name = str(person.get(":name") or "") or None
            found.append(Named(student=student, name=name, file="", submitted_at=moment))
    return tuple(found)
