"""Files that are made from others: the stored results, and the numbers of diagnoses.

`public_values()` of the hidden suite needs torch, so it runs in a process of its own; here only
numbers are compared. They may differ in their last digits, because float64 sines differ between
machines, too.
"""

import json
import math
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader import signatures
from grader.assignment import Assignment
from grader.errors import AssignmentError
from grader.explaining.rules import Rule, unpack
from grader.files import replace_file
from grader.grading import Judge
from grader.misconceptions import Misconception
from grader.model import Json, Reading, Text
from grader.sandbox import launch
from grader.verifying import formulas
from grader.verifying.records import Row
from grader.verifying.rows import failed, row, said

VALUES: Final = "suite/public_values.json"
DIAGNOSIS: Final = "diagnosis.json"
_LAST_DIGITS: Final = 1e-12
_HALF: Final = ("float16", "bfloat16")
_PATIENCE_S: Final = 180.0
_LAST_WORDS: Final = 600
_PROGRAM: Final = """
import importlib.util, json, sys
suite = {suite!r}
sys.path.insert(0, suite)
spec = importlib.util.spec_from_file_location("test_hidden", suite + "/test_hidden.py")
module = importlib.util.module_from_spec(spec)
sys.modules["test_hidden"] = module
spec.loader.exec_module(module)
made = getattr(module, "public_values", None)
values = None if made is None else {{
    name: {{"shape": list(each.shape), "values": [float(one) for one in each.flatten().tolist()]}}
    for name, each in made().items()
}}
with open({answer!r}, "w", encoding="ascii") as file:
    json.dump(values, file)
"""


# --- results of the shown tests --------------------------------------------------------------


def values(assignment: Assignment, *, update: bool) -> Row:
    """Whether `public_values.json` holds what `public_values()` gives; rewritten on request."""
    path = assignment.folder / VALUES
    try:
        stored = _stored(path)
        made = _made(assignment)
    except AssignmentError as error:
        return failed("stored_values", error.problems)
    if made is None:
        unchecked = [said("no_function")] if stored else []
        return row("stored_values", unchecked, said("nothing_stored"), worst="warning")
    stale = [name for name in {**made, **stored} if not _same(stored.get(name), made.get(name))]
    if not stale:
        return row("stored_values", [], said("values_ok", count=len(made)))
    if update:
        replace_file(path, (json.dumps(made, indent=1) + "\n").encode("ascii"))
        return row("stored_values", [], said("values_updated", names=[*stale]))
    return row("stored_values", [said("values_stale", names=[*stale])])


def _stored(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise AssignmentError(f"{VALUES}: {error}") from error
    if not isinstance(found, dict):
        raise AssignmentError(f"{VALUES}: expected an object")
    return found


def _made(assignment: Assignment) -> dict[str, Any] | None:
    """What the hidden suite's own code gives; None when it has no `public_values`."""
    suite = assignment.folder / "suite"
    if not (suite / "test_hidden.py").is_file():
        return None
    with tempfile.TemporaryDirectory(prefix="torchgrade-") as private:
        answer = Path(private) / "values.json"
        program = _PROGRAM.format(suite=str(suite), answer=str(answer))
        try:
            ended = subprocess.run(
                launch.command(program),
                cwd=private,
                env=launch.environment(Path(private)),
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AssignmentError("public_values() does not come to an end") from error
        if ended.returncode != 0 or not answer.is_file():
            words = ended.stderr.decode("utf-8", "replace").strip()[-_LAST_WORDS:]
            raise AssignmentError(f"public_values() failed: {words}")
        found: dict[str, Any] | None = json.loads(answer.read_text("ascii"))
        return found


def _same(one: Json, other: Json) -> bool:
    """Whether two results agree but for the last digits of float64."""
    return _close(one, other, absolute=_LAST_DIGITS, relative=_LAST_DIGITS)


def _close(one: Json, other: Json, *, absolute: float, relative: float) -> bool:
    match one, other:
        case dict(), dict():
            if one.get("dtype") in _HALF:
                absolute = relative = signatures.COARSE
            return one.keys() == other.keys() and all(
                _close(one[key], other[key], absolute=absolute, relative=relative) for key in one
            )
        case list(), list():
            return len(one) == len(other) and all(
                _close(*pair, absolute=absolute, relative=relative)
                for pair in zip(one, other, strict=True)
            )
        case ((int() | float()), (int() | float())):
            same = one == other or (math.isnan(one) and math.isnan(other))
            return same or math.isclose(one, other, rel_tol=relative, abs_tol=absolute)
        case _:
            return one == other


# --- numbers of the misconceptions -------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Signatures:
    """A fresh `diagnosis.json`, or why there is none; `astray` is what its formulas get wrong."""

    text: str = ""
    uneven: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()
    astray: tuple[Text, ...] = ()


def signatures_of(
    assignment: Assignment,
    reference: Reading,
    gallery: Sequence[tuple[Misconception, Reading]],
    rules: Sequence[Rule],
    judge: Judge,
) -> Signatures:
    """What `diagnosis.json` should hold, asked from a judge."""
    try:
        built = signatures.build(
            assignment,
            reference,
            gallery,
            lambda reading, changes: judge.numbers(reading, assignment, changes),
            rules,
        )
        astray = formulas.astray(assignment.folder, built.text)
    except AssignmentError as error:
        return Signatures(problems=error.problems)
    return Signatures(text=built.text, uneven=built.uneven, astray=tuple(astray))


def uneven_hints(fresh: Signatures) -> list[tuple[str, str]]:
    """Pairs of misconceptions that no probe tells apart but whose hints differ."""
    return [*fresh.uneven]


def diagnosis(assignment: Assignment, fresh: Signatures | None, *, update: bool) -> Row:
    """Whether `diagnosis.json` is up to date; rewritten on request.

    Args:
        fresh: None where the assignment has no probes or no gallery.
    """
    path = assignment.folder / DIAGNOSIS
    if fresh is None:
        return row("diagnosis", [said("no_diagnosis")], worst="warning")
    if fresh.problems:
        return failed("diagnosis", fresh.problems)
    if fresh.astray:
        return row("diagnosis", fresh.astray)
    stored = path.read_text("utf-8") if path.is_file() else ""
    if _same_knowledge(stored, fresh.text):
        return row("diagnosis", [], said("diagnosis_ok", **_counts(fresh.text)))
    if update:
        replace_file(path, fresh.text.encode())
        return row("diagnosis", [], said("diagnosis_updated"))
    return row("diagnosis", [said("diagnosis_stale")])


def _counts(text: str) -> dict[str, int]:
    """How many mistakes are known by stored numbers, and how many by formulas."""
    raw = json.loads(text)
    rules = unpack(raw["rules"]) if raw.get("rules") else ()
    formulas = sum(len(step.mistakes) for rule in rules for step in rule.steps)
    return {"stored": len(raw["misconceptions"]), "formulas": formulas}


def _same_knowledge(stored: str, fresh: str) -> bool:
    """Names and texts to the letter, numbers as closely as diagnoses look at them."""
    if stored == fresh:
        return True
    try:
        pair: tuple[Json, Json] = (signatures.plain(stored), signatures.plain(fresh))
    except ValueError:
        return False
    return _close(*pair, absolute=signatures.ATOL, relative=signatures.RTOL)
