"""`grade start`: a notebook or script to fill in, with its statement; never overwrites."""

import json
import re
from pathlib import Path
from typing import Any, Final, Literal

import click

from grader.assignment import Assignment
from grader.cli import terminal
from grader.cli.listing import available, named
from grader.cli.parameters import OneOf, Option, Place
from grader.cli.root import Command, Desk, desk, shared_options, usage
from grader.model import Language
from grader.texts import catalog
from grader.texts.reasons import why

Format = Literal["ipynb", "py"]

# Shells agree on double quotes; what they would still expand inside them is rare in paths.
_PLAIN: Final = re.compile(r"[\w./\\:+=@%-]+")


def command(language: Language) -> click.Command:
    def option(flag: str, key: str, **settings: Any) -> Option:
        return Option([*flag.split()], help=catalog.say(language, key), **settings)

    return Command(
        "start",
        callback=_run,
        params=[
            click.Argument(["id_"], metavar="ID"),
            option("--format format_", "cli.start.format", type=OneOf(["ipynb", "py"])),
            option("-o --output", "cli.start.output", metavar="PATH", type=Place()),
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.start.help"),
    )


@click.pass_context
def _run(ctx: click.Context, id_: str, format_: Format | None, output: str | None) -> None:
    here = desk(ctx)
    wanted = named(id_, available(here))
    path = _target(wanted.id, format_, output)
    made: list[Path] = [path]
    kept: list[Path] = []
    if path.suffix.lower() == ".ipynb":
        _create(path, notebook(wanted, here.language))
    else:
        _create(path, _template(wanted, here.language))
        statement = path.with_name(f"{wanted.id}.md")
        (kept if statement.exists() else made).append(statement)
        if statement in made:
            _create(statement, handout(wanted, here.language))
    terminal.show(_told(made, kept, here))


def _target(id_: str, format_: Format | None, output: str | None) -> Path:
    path = Path(output) if output else Path(f"{id_}.{format_ or 'ipynb'}")
    if path.is_dir():
        path = path / f"{id_}.{format_ or 'ipynb'}"
    suffix = path.suffix.lower()
    if suffix not in (".ipynb", ".py"):
        raise usage("output_suffix", file=str(path))
    if format_ and suffix != f".{format_}":
        raise usage("format_suffix", file=str(path), format=format_)
    if not path.parent.is_dir():
        raise usage("no_folder", file=str(path), folder=str(path.parent))
    return path


def notebook(assignment: Assignment, language: Language) -> str:
    """The notebook as text: the statement, then the template's cells; the same every time."""
    import jupytext  # type: ignore[import-untyped]

    template = jupytext.reads(_template(assignment, language), fmt="py:percent")
    cells = [("markdown", handout(assignment, language).strip())]
    cells += _joined([(cell.cell_type, cell.source) for cell in template.cells])
    book = {
        "cells": [_cell(kind, text, number) for number, (kind, text) in enumerate(cells, start=1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def _joined(cells: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The cells; a first one that holds only comments (the marker) goes into the second."""
    if len(cells) < 2 or cells[0][0] != cells[1][0]:
        return cells
    (kind, first), (_, second), *rest = cells
    if any(line and not line.startswith("#") for line in first.splitlines()):
        return cells
    return [(kind, f"{first}\n{second}"), *rest]


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    ran: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
        **ran,
    }


def handout(assignment: Assignment, language: Language) -> str:
    """The statement, in English where there is no Chinese one."""
    path = _in_language(assignment, "handout.md", language)
    if path.is_file():
        return path.read_text("utf-8")
    return f"# {assignment.title.in_language(language)}\n"


def _template(assignment: Assignment, language: Language) -> str:
    return _in_language(assignment, "template.py", language).read_text("utf-8")


def _in_language(assignment: Assignment, name: str, language: Language) -> Path:
    """The Chinese twin of a file (`template.zh.py`) where it is asked for and there."""
    path = assignment.folder / name
    twin = path.with_suffix(f".zh{path.suffix}")
    return twin if language == "zh" and twin.is_file() else path


def _create(path: Path, text: str) -> None:
    try:
        # Exclusive: what a student has written is never lost, not even by two commands at once.
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise usage("exists", file=str(path), other=quoted(_free(path))) from error
    except OSError as error:
        raise usage("cannot_write", file=str(path), reason=why(error)) from error


def _free(path: Path) -> Path:
    number = 2
    while path.with_stem(f"{path.stem}-{number}").exists():
        number += 1
    return path.with_stem(f"{path.stem}-{number}")


def quoted(path: Path) -> str:
    """The path as it can be typed after a command in any shell."""
    text = str(path)
    return text if _PLAIN.fullmatch(text) else f'"{text}"'


def _told(made: list[Path], kept: list[Path], here: Desk) -> list[str]:
    lines = [here.say("cli.start.made", files=[quoted(path) for path in made])]
    lines += [here.say("cli.start.kept", file=quoted(path)) for path in kept]
    lines += ["", *here.say("cli.start.next").split("\n")]
    return [*lines, f"  grade check {quoted(made[0])}"]
