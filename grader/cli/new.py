"""`grade new`: an assignment that already verifies, or a copy of one under a new id."""

import re
from pathlib import Path
from typing import Final

import click

from grader.assignment import load
from grader.cli import terminal
from grader.cli.layout import wrap
from grader.cli.parameters import Option
from grader.cli.root import Command, Desk, desk, shared_options
from grader.model import Language
from grader.scaffold import folders, making
from grader.texts import catalog

_GUIDE: Final = "docs/writing-an-assignment.md"
_MOST: Final = 5
_PLAIN: Final = re.compile(r"[\w./\\:+=@%-]+")


def command(language: Language) -> click.Command:
    return Command(
        "new",
        callback=_run,
        params=[
            click.Argument(["id_"], metavar="ID"),
            Option(["--from", "from_"], metavar="ID", help=catalog.say(language, "cli.new.from")),
            *shared_options(language, new=True),
        ],
        help=catalog.say(language, "cli.new.help"),
    )


@click.pass_context
def _run(ctx: click.Context, id_: str, from_: str | None) -> None:
    here = desk(ctx)
    checkout = folders.checkout()
    parent = folders.parent(here.assignments, checkout)
    folders.refuse(id_, parent)
    if from_ is None:
        made = making.fresh(id_, parent)
        lines = [here.say("cli.new.made", folder=_typed(made))]
    else:
        source = folders.source(from_, parent, checkout)
        # What is wrong with the original is said before PyTorch starts.
        load(source.folder)
        if source.id != id_:
            terminal.say(here.say("cli.starting"))
        made = making.copied(id_, parent, source)
        lines = [here.say("cli.new.copied", folder=_typed(made), id=source.id)]
    lines += [f"  {each}" for each in _contents(made, here)]
    # Who has set the variable need not type the option.
    option = ctx.meta.get("grader.assignments")
    named = f" --assignments {_typed(parent)}" if option else ""
    terminal.show([*lines, "", *_next(id_, made, here, named=named, copy=from_ is not None)])


def _contents(made: Path, here: Desk) -> list[str]:
    """Every file, but of a folder with many only how many."""
    files = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    lines = []
    for folder in dict.fromkeys(each.parent for each in files):
        inside = [each.as_posix() for each in files if each.parent == folder]
        if len(inside) > _MOST and folder.parts:
            lines.append(here.say("cli.new.many", folder=folder.as_posix(), count=len(inside)))
        else:
            lines += inside
    return sorted(lines)


def _next(id_: str, made: Path, here: Desk, *, named: str, copy: bool) -> list[str]:
    """Three steps, each with what is to be typed."""
    change = here.say("cli.new.read" if copy else "cli.new.change", guide=_GUIDE)
    reference = _typed(made / "reference.py")
    steps = [
        (change, []),
        (here.say("cli.new.check"), [f"grade check {reference} --assignment {id_}{named}"]),
        (
            here.say("cli.new.verify"),
            [f"grade verify {id_} --update{named}", f"grade verify {id_} --strict{named}"],
        ),
    ]
    lines = [here.say("cli.new.next")]
    for number, (text, commands) in enumerate(steps, start=1):
        lines += wrap(text, first=f"  {number}. ", rest=" " * 5)
        lines += [f"       {each}" for each in commands]
    return lines


def _typed(path: Path) -> str:
    """The path as it can be typed in any shell."""
    text = str(path)
    return text if _PLAIN.fullmatch(text) else f'"{text}"'
