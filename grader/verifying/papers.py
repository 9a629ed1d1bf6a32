"""What can be checked about an assignment without running anything."""

import ast
import json
import string
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader import misconceptions
from grader.assignment import Assignment
from grader.misconceptions import Misconception
from grader.model import Json, Text
from grader.validation import sentences
from grader.verifying.answers import Answer
from grader.verifying.records import Row
from grader.verifying.rows import row, said

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

_NEEDED: Final = ("handout.md", "template.py", "reference.py", "suite/test_hidden.py")
_SCHEMAS: Final = {
    "assignment.toml": "assignment.schema.json",
    "rubric.toml": "rubric.schema.json",
    "misconceptions.toml": "misconceptions.schema.json",
    "explanations.toml": "explanations.schema.json",
}
_LANGUAGES: Final = ("en", "zh")


def files(
    assignment: Assignment, accepted: Sequence[Answer], known: Sequence[Misconception]
) -> Row:
    """Whether everything is there, and gallery and misconceptions.toml name the same files."""
    folder = assignment.folder
    missing = [said("no_file", file=each) for each in _NEEDED if not (folder / each).is_file()]
    gallery = folder / misconceptions.FOLDER
    files = {path.name for path in gallery.glob("*.py")}
    listed = {each.file for each in known}
    missing += [
        said("no_misconception_file", id=each.id, file=each.file)
        for each in known
        if each.file not in files
    ]
    missing += [said("unlisted_file", file=each) for each in sorted(files - listed)]
    if _differs(folder / "template.py", folder / "template.zh.py"):
        missing.append(said("other_code", file="template.zh.py"))
    if missing:
        return row("files", missing)
    empty = [said("no_accepted")] if not accepted else []
    empty += [said("no_misconceptions")] if not known else []
    fine = said("files_ok", accepted=len(accepted), misconceptions=len(known))
    return row("files", empty, fine, worst="warning")


def rubric(assignment: Assignment) -> Row:
    """Whether the files follow their schemas and there is something to earn."""
    problems = [
        said("schema", file=name, problem=problem)
        for name, schema in _SCHEMAS.items()
        for problem in _broken_rules(assignment.folder / name, schema)
    ]
    if assignment.max_score == 0:
        problems.append(said("rubric_zero"))
    count = len(assignment.criteria)
    fine = said("rubric_ok", points=assignment.max_score, criteria=count)
    return row("rubric", problems, fine)


def translations(assignment: Assignment) -> Row:
    """Whether whatever students read is there in both languages."""
    folder = assignment.folder
    problems: list[Text] = []
    for name in _SCHEMAS:
        table = _toml(folder / name)
        problems += [said("no_chinese", where=f"{name}, {place}") for place in _one_sided(table)]
    problems += [
        said("no_file", file=name)
        for name in ("handout.zh.md", "template.zh.py")
        if not (folder / name).is_file()
    ]
    problems += _uneven_texts(_toml(folder / "texts.toml"))
    return row("translations", problems, said("translations_ok"), worst="warning")


def hints(known: Sequence[Misconception], pairs: Sequence[tuple[str, str]]) -> Row:
    """Whether misconceptions that no numbers can tell apart share one hint.

    Args:
        pairs: what the probes cannot tell apart although the hints differ.
    """
    by_id = {each.id: each for each in known}
    uneven = {
        tuple(sorted((each.id, twin)))
        for each in known
        for twin in each.twins
        if twin in by_id and by_id[twin].hint.en != each.hint.en
    } | {tuple(sorted(pair)) for pair in pairs}
    problems = [said("two_hints", first=first, second=second) for first, second in sorted(uneven)]
    return row("hints", problems, said("hints_ok"))


# --- the Chinese template --------------------------------------------------------------------


def _differs(template: Path, twin: Path) -> bool:
    """Whether a template's Chinese twin has other code; docstrings and comments are its own."""
    return twin.is_file() and template.is_file() and _code(template) != _code(twin)


def _code(path: Path) -> tuple[list[str], str]:
    """The marks of cells and the marker, and the code without docstrings."""
    text = path.read_text("utf-8")
    marks = [each for each in text.splitlines() if each.startswith(("# %%", "# torchgrade:"))]
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return marks, str(error)
    for each in ast.walk(tree):
        if isinstance(each, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(
            each
        ):
            del each.body[0]
    return marks, ast.dump(tree)


# --- schemas ---------------------------------------------------------------------------------


def _broken_rules(path: Path, schema: str) -> Iterator[Text]:
    if not path.is_file():
        return
    yield from sentences(_validator(schema).iter_errors(_toml(path)))


@cache
def _validator(schema: str) -> "Draft202012Validator":
    # 0.15 s to import, and only here.
    from jsonschema import Draft202012Validator

    raw = resources.files("grader").joinpath("schemas", schema).read_text("utf-8")
    return Draft202012Validator(json.loads(raw))


def _toml(path: Path) -> dict[str, Any]:
    """The file as plain data; empty where it is missing (its reader has told of all else)."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError):
        return {}


# --- languages -------------------------------------------------------------------------------


def _one_sided(part: Json, place: str = "$") -> Iterator[str]:
    """The places of tables that hold an English sentence and no Chinese one."""
    if isinstance(part, dict):
        if isinstance(part.get("en"), str) and "zh" not in part:
            yield place
        for key, value in part.items():
            yield from _one_sided(value, f"{place}.{key}")
    elif isinstance(part, list):
        for at, value in enumerate(part):
            yield from _one_sided(value, f"{place}[{at}]")


def _uneven_texts(table: Mapping[str, Any]) -> list[Text]:
    """Sentences of texts.toml that one language lacks, or that use other fields there."""
    if not table:
        return []
    texts = {language: dict(table.get(language, {})) for language in _LANGUAGES}
    problems = []
    for language, other in (_LANGUAGES, _LANGUAGES[::-1]):
        only = sorted(texts[language].keys() - texts[other].keys())
        problems += [said("only_in", key=code, language=language) for code in only]
    for code in sorted(texts["en"].keys() & texts["zh"].keys()):
        if _fields(texts["en"][code]) != _fields(texts["zh"][code]):
            problems.append(said("other_fields", key=code))
    return problems


def _fields(sentence: object) -> frozenset[str]:
    try:
        parts = list(string.Formatter().parse(str(sentence)))
    except ValueError:
        return frozenset({str(sentence)})
    return frozenset(name for _, name, _, _ in parts if name is not None)
