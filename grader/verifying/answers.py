"""The answers that an assignment is tried with: its own files, and those made here.

Trivial answers compute nothing: they hand an argument back, or always say the same. Whoever
gives one must not earn a point, with the complete suite or with the shown tests alone.
"""

import ast
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from grader import assignment as assignments
from grader import submission
from grader.assignment import Assignment
from grader.model import EntryPoint, Json, OpenedFile, Reading, Submission

_STUDENT_FILES: Final = (
    "assignment.toml",
    "rubric.toml",
    "texts.toml",
    "handout.md",
    "handout.zh.md",
    "template.py",
    "template.zh.py",
    "diagnosis.json",
    "suite/test_public.py",
    "suite/public_values.json",
)
# A table of the stored results is no answer, but where only shown tests run it gives theirs.
BY_SHAPE: Final = "stored results by shape"
_MOST_LITERALS: Final = 12
_LITERAL: Final = re.compile(r"\[[-\d.,\s\[\]e+]*\]|(?<![\w.\[])-?\d+\.\d+(?![\w.\]])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Something that could be handed in; `name` is what the table calls it."""

    name: str
    reading: Reading


def in_file(path: Path, assignment: Assignment) -> Answer:
    """A file of the assignment, named without its folder."""
    return Answer(name=path.name, reading=_understood(submission.read(path), assignment))


def in_text(name: str, text: str, assignment: Assignment) -> Answer:
    """An answer that no file holds."""
    content = text.encode()
    made = Submission(file=f"{name}.py", kind="module", sha256=sha256(content).hexdigest())
    opened = OpenedFile(submission=made, content=content)
    return Answer(name=name, reading=_understood(opened, assignment))


def in_folder(folder: Path, assignment: Assignment) -> tuple[Answer, ...]:
    """The answers in a folder of the gallery, by name; none where there is no such folder."""
    return tuple(
        in_file(path, assignment)
        for path in sorted(folder.glob("*"))
        if path.suffix in (".py", ".ipynb") and not path.name.startswith(".")
    )


def student_edition(assignment: Assignment, parent: Path) -> Assignment:
    """The assignment as students have it, copied below `parent`: no hidden suite.

    Raises:
        AssignmentError: when it cannot be read that way.
    """
    folder = parent / assignment.folder.name
    for name in _STUDENT_FILES:
        if (assignment.folder / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(assignment.folder / name, folder / name)
    return assignments.load(folder)


def _understood(opened: OpenedFile, assignment: Assignment) -> Reading:
    names = [entry.name for entry in assignment.entry_points]
    return submission.understand(opened, names=names)


# --- trivial answers ---------------------------------------------------------------------------


def trivial(assignment: Assignment) -> tuple[Answer, ...]:
    """Every answer that computes nothing; of several functions all do the same."""
    programs = [*_arguments(assignment), *_constants(assignment), *_remembered(assignment)]
    return tuple(in_text(name, text, assignment) for name, text in dict(programs).items())


def _arguments(assignment: Assignment) -> Iterator[tuple[str, str]]:
    """Each argument, or a tensor made after its shape alone."""
    most = max(len(entry.parameters) for entry in assignment.entry_points)
    for at in range(most):
        for form in ("{}", "{}.clone()", "-{}", "torch.zeros_like({})", "torch.ones_like({})"):
            results = [_of_argument(entry, at, form) for entry in assignment.entry_points]
            yield " / ".join(dict.fromkeys(results)), _program(assignment, results)


def _of_argument(entry: EntryPoint, at: int, form: str) -> str:
    """The form with the parameter at this place; functions that have fewer use their last."""
    if not entry.parameters:
        return "None"
    parameter = entry.parameters[min(at, len(entry.parameters) - 1)]
    # What only tensors can is not done to numbers.
    plain = parameter.kind != "tensor" and form not in ("{}", "-{}")
    return parameter.name if plain else form.format(parameter.name)


def _constants(assignment: Assignment) -> Iterator[tuple[str, str]]:
    for value in ("0", "1", "0.5", "None"):
        results = [value] * len(assignment.entry_points)
        yield f"{value}", _program(assignment, results)
    for value in ("0.0", "1.0", "0.5", 'float("nan")'):
        results = [_filled(entry, value) for entry in assignment.entry_points]
        yield f"constant {value}", _program(assignment, results)
    results = [_noise(entry) for entry in assignment.entry_points]
    yield "noise", _program(assignment, results)


def _filled(entry: EntryPoint, value: str) -> str:
    shape = _shaped_like(entry)
    if entry.result.kind == "number" or shape is None:
        return value
    return f"torch.full_like({shape}, {value})"


def _noise(entry: EntryPoint) -> str:
    shape = _shaped_like(entry)
    if entry.result.kind == "number" or shape is None:
        return "random.uniform(-1.0, 1.0)"
    return f"torch.rand({shape}.shape, dtype={shape}.dtype) * 2 - 1"


def _shaped_like(entry: EntryPoint) -> str | None:
    tensors = [each.name for each in entry.parameters if each.kind == "tensor"]
    return entry.result.like or (tensors[0] if tensors else None)


def _remembered(assignment: Assignment) -> Iterator[tuple[str, str]]:
    """What students can read: the stored results, and the numbers of the statement."""
    stored = _stored(assignment.folder)
    if stored:
        answers = ", ".join(stored)
        yield (
            "stored results in order",
            _program(assignment, ["_next()"] * len(assignment.entry_points), answers),
        )
        results = [_by_shape(entry) for entry in assignment.entry_points]
        yield BY_SHAPE, _program(assignment, results, answers)
    for literal in _literals(assignment.folder):
        results = [_as_result(entry, literal) for entry in assignment.entry_points]
        yield f"always {literal}", _program(assignment, results)


def _stored(folder: Path) -> list[str]:
    """The stored results as Python expressions; none where the file cannot be read."""
    try:
        raw = json.loads((folder / "suite" / "public_values.json").read_text("utf-8"))
        return [_expression(each["values"], each["shape"]) for each in raw.values()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _expression(values: Sequence[Json], shape: Sequence[int]) -> str:
    numbers = ", ".join(f'float("{value}")' for value in values)
    made = f"torch.tensor([{numbers}])"
    return f"{made}.reshape({list(shape)})" if shape else f"{made}[0]"


def _by_shape(entry: EntryPoint) -> str:
    shape = _shaped_like(entry)
    return f"_fitting({shape})" if shape is not None else "_next()"


def _literals(folder: Path) -> list[str]:
    """Lists of numbers and decimal numbers in the statement and in the template, in order."""
    found: dict[str, None] = {}
    for name in ("handout.md", "template.py"):
        path = folder / name
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        for match in _LITERAL.finditer(text):
            if _is_value(match.group()):
                found.setdefault(match.group(), None)
    return list(found)[:_MOST_LITERALS]


def _is_value(text: str) -> bool:
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return False
    return bool(value) if isinstance(value, list) else isinstance(value, float)


def _as_result(entry: EntryPoint, literal: str) -> str:
    if entry.result.kind == "number":
        return literal
    return f"torch.tensor({literal}, dtype=torch.float32)"


_PREAMBLE: Final = """\
import itertools
import random

import torch

_answers = [{answers}]
_turn = itertools.count()


def _next():
    return _answers[next(_turn) % len(_answers)]


def _fitting(like):
    return next((each for each in _answers if each.shape == like.shape), _answers[0])
"""


def _program(assignment: Assignment, results: Sequence[str], answers: str = "") -> str:
    parts = [_PREAMBLE.format(answers=answers)]
    for entry, result in zip(assignment.entry_points, results, strict=True):
        parameters = ", ".join(
            f"{each.name}=None" if each.optional else each.name for each in entry.parameters
        )
        parts.append(f"\n\ndef {entry.name}({parameters}):\n    return {result}\n")
    return "".join(parts)
