"""The documentation: every name is in it, its screens are real, its links lead somewhere.

Screens are `console` blocks: lines that begin with `$ ` are commands, the rest is what they print.
The blocks of one page share a folder, in order; a `python` block directly below a comment
`<!-- fill in FILE -->` is what the reader puts in place of the blank. To rewrite all screens:

    REWRITE_SCREENS=1 python -m pytest -m "" tests/test_readme.py

which fails on purpose, so that it is never left switched on.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from grader.cli.root import FIRST, STAFF, Context, root
from grader.report import schema

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "README.zh.md")
STUDENT_FILES = ("*.toml", "*.md", "template*.py", "diagnosis.json", "suite/*public*")
STAFF_TOML = ("misconceptions.toml", "explanations.toml")
REWRITING = bool(os.environ.get("REWRITE_SCREENS"))
# As it is installed, so that `Next:` names the command that a reader types.
SCRIPT = Path(sys.executable).with_name("grade.exe" if os.name == "nt" else "grade")
BLOCK = re.compile(r"(?:<!-- fill in (\S+) -->\n)?```(console|python)\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def pages() -> str:
    """README and docs/ as one text."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return "\n".join(each.read_text("utf-8") for each in found)


# --- every name ----------------------------------------------------------------------------


def options() -> Iterator[tuple[str, str]]:
    """Each command with each way to spell each of its options."""
    group = root("en")
    context = Context(group, obj="en")
    for name in (*FIRST, *STAFF):
        command = group.get_command(context, name)
        for parameter in command.params if command else ():
            if isinstance(parameter, click.Option):
                yield from ((name, spelling) for spelling in parameter.opts)
    yield from (("", spelling) for each in group.params for spelling in each.opts)


def keys(node: dict[str, Any], definitions: dict[str, Any], path: str = "") -> Iterator[str]:
    """Every key of a JSON Schema as a dotted path; the parts of a sentence are named once."""
    reference = node.get("$ref", "").rpartition("/")[2]
    if reference in ("text", "maybe_text"):
        yield from ("code", "args", "en", "zh")
        return
    node = definitions.get(reference, {}) | node
    for name, child in node.get("properties", {}).items():
        if isinstance(child, dict):
            yield path + name
            yield from keys(child, definitions, f"{path}{name}.")
    if "items" in node:
        yield from keys(node["items"], definitions, path.removesuffix(".") + "[].")
    for choice in node.get("anyOf", ()):
        yield from keys(choice, definitions, path)


def named(path: str, reference: str) -> bool:
    """Whether the reference has it: as code, in a longer path, or in the row of its parent."""
    if re.search(rf"`{re.escape(path)}[`.\[]", reference):
        return True
    parent, _, name = path.rpartition(".")
    return any(
        f"`{parent.removesuffix('[]')}" in row and re.search(rf"[`\s]{name}[`\s]", row)
        for row in reference.split("\n")
    )


@pytest.mark.parametrize("name", [*FIRST, *STAFF])
def test_every_command_is_documented(name: str, pages: str) -> None:
    assert re.search(rf"`grade {name}\b", pages) is not None


def test_every_option_is_documented(pages: str) -> None:
    missing = [
        f"grade {command} {option}".replace("  ", " ")
        for command, option in options()
        if re.search(rf"`(?:[^`\n]*\W)?{option}(?![\w-])[^`\n]*`", pages) is None
    ]

    assert missing == []


@pytest.mark.parametrize("document", ["report", "rubric", "assignment"])
def test_every_key_is_documented(document: str) -> None:
    reference = (ROOT / "docs" / "reference.md").read_text("utf-8")
    described = schema(document)
    definitions = described.get("$defs", {})

    missing = [key for key in keys(described, definitions) if not named(key, reference)]

    assert missing == []


def test_every_relative_link_leads_to_a_file() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob(".github/*.md")]
    dangling = [
        f"{page.name}: {target}"
        for page in documents
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert dangling == []


# --- every screen ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command of a page and what the page says that it prints."""

    command: str
    printed: str


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_screens_of_a_page_are_what_the_commands_print(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text("utf-8")
    environment = reader(tmp_path) | {"GRADE_LANG": "zh" if ".zh." in page else "en"}
    really = BLOCK.sub(lambda block: replayed(block, tmp_path, environment), text)

    if REWRITING:
        (ROOT / page).write_text(really, "utf-8", newline="\n")
        pytest.fail(f"{page} has been rewritten; run the tests again without REWRITE_SCREENS")
    assert text.split("\n") == really.split("\n")


def reader(folder: Path) -> dict[str, str]:
    """The environment of a reader whose folder holds the class of examples.

    Samples of the checkout are graded with its assignments, everything else as the student
    edition does it.
    """
    shutil.copytree(
        ROOT / "submissions_example", folder / "submissions_example", copy_function=shutil.copy
    )
    student = folder / ".student_edition"
    for assignment in sorted((ROOT / "assignments").glob("*/")):
        for pattern in STUDENT_FILES:
            for file in assignment.glob(pattern):
                if file.name not in STAFF_TOML:
                    target = student / file.relative_to(ROOT / "assignments")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, target)
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    path = os.pathsep.join([str(SCRIPT.parent), kept["PATH"]])
    return kept | {"PATH": path, "PYTHONUTF8": "1"}


def replayed(block: re.Match[str], folder: Path, environment: dict[str, str]) -> str:
    """The block with what its commands print now; a block to fill in is carried out."""
    file, language, body = block.groups()
    if language == "python":
        if file:
            fill_in(folder / file, body)
        return block.group()
    steps = [run(step, folder, environment) for step in steps_of(body)]
    opening = block.group()[: block.group().index(body)] if body else block.group()
    return opening + "".join(f"$ {step.command}\n{step.printed}" for step in steps) + "```"


def steps_of(body: str) -> list[Step]:
    parts = re.split(r"^\$ ", body, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"a console block begins with a command, not with {parts[0]!r}")
    return [
        Step(command=command, printed=printed)
        for command, _, printed in (part.partition("\n") for part in parts[1:])
    ]


def run(step: Step, folder: Path, environment: dict[str, str]) -> Step:
    """The same command with what it prints now, on stdout and stderr as a terminal mixes them."""
    words = shlex.split(step.command)
    if words[0] != "grade":
        raise ValueError(f"only grade is run: {step.command}")
    own = dict(environment)
    if "start" in words or ("check" in words and "submissions_example/" not in step.command):
        own["GRADE_ASSIGNMENTS"] = str(folder / ".student_edition")
    done = subprocess.run(
        [str(SCRIPT), *words[1:]],
        cwd=folder,
        env=own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    clock = re.compile(r"(today at|今天) \d\d:\d\d")
    printed = clock.sub(r"\1 14:03", done.stdout).rstrip("\n") + "\n"
    # A command that prints nothing has no line of its own.
    return Step(command=step.command, printed=printed.lstrip("\n") if printed == "\n" else printed)


def fill_in(file: Path, body: str) -> None:
    """Put the lines between the docstring and the `return` of the notebook's only function."""
    notebook = json.loads(file.read_text("utf-8"))
    inner = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and text.startswith("def "):
            head, closing, old = text.partition('\n    """\n')
            tail = old[old.rindex("    return ") :]
            cell["source"] = (head + closing + inner + tail).splitlines(keepends=True)
    file.write_text(json.dumps(notebook), "utf-8")


def test_the_numbers_of_the_galleries_are_those_of_the_files() -> None:
    styles = list((ROOT / "assignments").glob("*/gallery/accepted/*.py"))
    mistakes = list((ROOT / "assignments").glob("*/gallery/misconceptions/*.py"))

    told = (ROOT / "README.md").read_text("utf-8")

    assert f"right answers in {len(styles)} styles" in told
    assert f"{len(mistakes)} known mistakes" in told
