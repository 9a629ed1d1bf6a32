"""From `grade start` to full marks: every assignment, as a notebook and as a script."""

import ast
import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from test_cli import ROOT, grade

ASSIGNMENTS = {path.name.split("_")[0]: path for path in sorted((ROOT / "assignments").glob("hw*"))}
FORMS = [f"{id_}.{suffix}" for id_ in ASSIGNMENTS for suffix in ("ipynb", "py")]
PLACEHOLDER = '"""your code here"""'


def started(folder: Path, file: str, *, language: str) -> Path:
    """The template of the assignment that the file's name begins with."""
    result = grade("start", file.split(".")[0], "-o", file, "--lang", language, cwd=folder)
    if result.returncode != 0:
        pytest.fail(result.stderr.decode("utf-8", "replace"))
    return folder / file


# --- filling in ------------------------------------------------------------------------------


def bodies_of(reference: str) -> dict[str, str]:
    """The body of each function of a reference, without its docstring, unindented."""
    bodies = {}
    for node in ast.parse(reference).body:
        if isinstance(node, ast.FunctionDef):
            first = node.body[1 if ast.get_docstring(node) else 0]
            lines = reference.splitlines()[first.lineno - 1 : node.end_lineno]
            bodies[node.name] = textwrap.dedent("\n".join(lines))
    return bodies


def rest_of(reference: str, functions: list[str]) -> str:
    """What else the reference has at top level: imports, constants, functions of its own."""
    kept = [
        ast.get_source_segment(reference, node) or ""
        for node in ast.parse(reference).body[1:]
        if not (isinstance(node, ast.FunctionDef) and node.name in functions)
    ]
    return "\n".join(kept)


def filled(lines: list[str], reference: str) -> list[str]:
    """The lines of a template; each placeholder line has become the reference's body."""
    bodies, name, result = bodies_of(reference), "", []
    for line in lines:
        if line.startswith("def "):
            name = line.removeprefix("def ").partition("(")[0]
        if PLACEHOLDER in line:
            result += textwrap.indent(bodies[name], "    ").split("\n")
        else:
            result.append(line)
    return result


def fill_in(path: Path, reference: str) -> None:
    """Do the homework in place: what the reference needs goes to the top, as students do it."""
    template = ASSIGNMENTS[path.stem] / "template.py"
    functions = list(bodies_of(template.read_text("utf-8")))
    top = rest_of(reference, functions).split("\n")
    if path.suffix == ".py":
        lines = filled(path.read_text("utf-8").split("\n"), reference)
        path.write_text("\n".join([lines[0], *top, *lines[1:]]), encoding="utf-8")
        return
    book = json.loads(path.read_text("utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for cell in code:
        lines = filled("".join(cell["source"]).split("\n"), reference)
        lines += top if cell is code[0] else []
        cell["source"] = [f"{line}\n" for line in lines]
    path.write_text(json.dumps(book, ensure_ascii=False, indent=1), encoding="utf-8")


# --- from start to check -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What one run over a folder of templates gave."""

    folder: Path
    exit_code: int
    reports: Mapping[str, dict[str, Any]]


def checked(folder: Path) -> Checked:
    result = grade("check", *FORMS, "--out", "reports", cwd=folder)
    read = [json.loads(path.read_text("utf-8")) for path in (folder / "reports").iterdir()]
    return Checked(
        folder=folder,
        exit_code=result.returncode,
        reports={each["submission"]["file"]: each for each in read},
    )


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    folder = tmp_path_factory.mktemp("unfinished")
    for file in FORMS:
        started(folder, file, language="en")
    return checked(folder)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    folder = tmp_path_factory.mktemp("finished")
    for file in FORMS:
        path = started(folder, file, language="zh")
        reference = ASSIGNMENTS[path.stem] / "reference.py"
        fill_in(path, reference.read_text("utf-8"))
    return checked(folder)


def test_there_are_four_assignments() -> None:
    assert list(ASSIGNMENTS) == ["hw1", "hw2", "hw3", "hw4"]


@pytest.mark.parametrize("file", FORMS)
def test_an_unfinished_template_earns_nothing_and_is_called_not_done(
    file: str, unfinished: Checked
) -> None:
    report = unfinished.reports[file]

    assert {row["verdict"] for row in report["criteria"]} == {"not_done"}
    assert {problem["kind"] for problem in report["problems"]} == {"not_done"}
    assert (report["score"], report["decided"], report["status"]) == (0, 10, "graded")


@pytest.mark.parametrize("file", FORMS)
def test_a_template_filled_in_with_the_reference_earns_full_marks(
    file: str, finished: Checked
) -> None:
    report = finished.reports[file]

    assert {row["verdict"] for row in report["criteria"]} == {"passed"}
    assert report["problems"] == []
    assert (report["score"], report["decided"], report["max_score"]) == (10, 10, 10)


def test_the_exit_code_tells_unfinished_from_finished(
    unfinished: Checked, finished: Checked
) -> None:
    assert (unfinished.exit_code, finished.exit_code) == (1, 0)


@pytest.mark.parametrize("id_", ASSIGNMENTS)
def test_a_started_notebook_begins_with_its_statement_in_the_language_spoken(
    id_: str, unfinished: Checked, finished: Checked
) -> None:
    for run, handout in ((unfinished, "handout.md"), (finished, "handout.zh.md")):
        book = json.loads((run.folder / f"{id_}.ipynb").read_text("utf-8"))

        statement = (ASSIGNMENTS[id_] / handout).read_text("utf-8")
        assert "".join(book["cells"][0]["source"]) == statement.strip()
        assert book["cells"][0]["cell_type"] == "markdown"


@pytest.mark.parametrize("id_", ASSIGNMENTS)
def test_a_started_script_has_its_statement_beside_it(id_: str, unfinished: Checked) -> None:
    beside = (unfinished.folder / f"{id_}.md").read_text("utf-8")

    assert beside.strip() == (ASSIGNMENTS[id_] / "handout.md").read_text("utf-8").strip()
