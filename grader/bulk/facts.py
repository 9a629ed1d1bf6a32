"""What a file says of itself without being run: its assignments, and how far it is done."""

import ast
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader import submission
from grader.assignment import Assignment
from grader.errors import UsageProblem
from grader.model import Kind, OpenedFile, Reading, Submission
from grader.reader.client import Reason, unread
from grader.reading import attribution
from grader.reading.parsing import parse

# Above, two files are compared by their text; a tree of so much code costs too much.
_MOST_COMPARED: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Args:

    ids: the assignments that it is for, whether chosen or not; None when nothing tells.
    done: those of them of which it defines a function that is no blank any more.
    blank: those whose functions are all as the template has them.
    sha256: of its bytes.
    code: equal for files that differ in comments, white space and outputs only.
    unread: why reading it was given up (time, memory, died); then no more than its name is known.
    """

    ids: tuple[str, ...] | None
    done: frozenset[str]
    blank: frozenset[str]
    sha256: str
    code: str
    unread: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What tells that a file is for an assignment."""

    id: str
    entry_points: tuple[str, ...]
    variables: Mapping[str, str]

    @classmethod
    def of(cls, assignment: Assignment) -> "Known":
        return cls(
            id=assignment.id,
            entry_points=tuple(entry.name for entry in assignment.entry_points),
            variables=assignment.variables,
        )

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> "Known":
        return cls(**{**raw, "entry_points": tuple(raw["entry_points"])})

    @property
    def candidate(self) -> attribution.Candidate:
        return attribution.Candidate(
            id=self.id, entry_points=self.entry_points, variables=self.variables
        )


def kind_of(file: str) -> Kind:
    return "notebook" if file.lower().endswith(".ipynb") else "module"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def facts(content: bytes, file: str, hint: str | None, known: Sequence[Known]) -> Facts:
    """What the bytes of a file say; `hint` is the assignment as the export calls it."""
    candidates = [each.candidate for each in known]
    functions = {name for each in candidates for name in each.entry_points}
    sha256 = digest(content)
    handed_in = Submission(file=file, kind=kind_of(file), sha256=sha256)
    opened = OpenedFile(submission=handed_in, content=content)
    reading = submission.understand(opened, names=functions)
    done, blank = set(), set()
    for each in candidates:
        defined = [
            reading.definitions[name] for name in each.entry_points if name in reading.definitions
        ]
        if defined and all(definition.blank for definition in defined):
            blank.add(each.id)
        elif defined or any(name in reading.unread for name in each.entry_points):
            done.add(each.id)
    return Facts(
        ids=_ids(reading, (hint or "").lower(), candidates),
        done=frozenset(done),
        blank=frozenset(blank),
        sha256=sha256,
        code=_code(reading) or sha256,
    )


def of_unread(
    file: str, hint: str | None, known: Sequence[Known], sha256: str, reason: Reason
) -> Facts:
    """What is known of a file of which a reader died: its name."""
    handed_in = Submission(file=file, kind=kind_of(file), sha256=sha256)
    candidates = [each.candidate for each in known]
    ids = _ids(unread(handed_in, reason), (hint or "").lower(), candidates)
    none: frozenset[str] = frozenset()
    return Facts(ids=ids, done=none, blank=none, sha256=sha256, code=sha256, unread=reason)


def from_plain(raw: Mapping[str, Any]) -> Facts:
    return Facts(
        ids=None if raw["ids"] is None else tuple(raw["ids"]),
        done=frozenset(raw["done"]),
        blank=frozenset(raw["blank"]),
        sha256=raw["sha256"],
        code=raw["code"],
    )


def _ids(
    reading: Reading, hint: str, candidates: Sequence[attribution.Candidate]
) -> tuple[str, ...] | None:
    try:
        ids = attribution.attribute(reading, candidates)
    except UsageProblem:
        return (hint,) if hint in [each.id for each in candidates] else None
    # What was handed in as hw1 is graded as hw1, whatever else the notebook holds.
    return (hint,) if hint in ids else ids


def _code(reading: Reading) -> str | None:
    """A hash of what Python would compile; None where nothing can be run."""
    if reading.source is None:
        return None
    small = sum(len(piece.text) for piece in reading.source.pieces) <= _MOST_COMPARED
    said: list[str] = []
    for piece in reading.source.pieces:
        tree = parse(piece.text, cell=piece.cell is not None) if small else None
        try:
            dumped = ast.dump(tree) if isinstance(tree, ast.Module) else ""
        except (RecursionError, MemoryError, ValueError):
            # ValueError: Python prints no integer of thousands of digits.
            dumped = ""
        if dumped != ast.dump(ast.Module(body=[], type_ignores=[])):
            said.append(dumped or "".join(piece.text.split()))
    text = "\n".join(said)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if said else None
