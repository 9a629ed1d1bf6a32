"""`grade diff`: whose scores moved between two batches."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from grader.cli import terminal
from grader.cli.layout import wrap
from grader.cli.parameters import Place
from grader.cli.root import Command, Desk, desk, shared_options
from grader.model import Language
from grader.texts import catalog

if TYPE_CHECKING:
    from grader.bulk.diff import Comparison, Move

# Where the change of a criterion ends: below its score, further in.
_CRITERION: Final = 10


def command(language: Language) -> click.Command:
    folder = Place(exists=True, file_okay=False)
    return Command(
        "diff",
        callback=_run,
        params=[
            click.Argument(["old"], metavar="OLD", type=folder),
            click.Argument(["new"], metavar="NEW", type=folder),
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.diff.help"),
    )


@click.pass_context
def _run(ctx: click.Context, /, old: str, new: str) -> int:
    from grader.bulk import diff

    here = desk(ctx)
    found = diff.compare(Path(old), Path(new))
    terminal.show(_screen(found, here))
    return 1 if found.moves else 0


def _screen(found: "Comparison", here: Desk) -> list[str]:
    from grader.bulk import run_record

    lines: list[str] = []
    for key, old, new in found.conditions:
        name = run_record.key_name(key)
        lines += wrap(here.say("cli.diff.conditions", key=name, old=old, new=new))
    for move in found.moves:
        lines += wrap(_row(move, here), rest="      ")
        for each in move.criteria:
            change = f"{each.change:+d}".rjust(_CRITERION)
            lines += wrap(each.title.in_language(here.language), first=f"{change}  ")
    lost = sum(move.change < 0 for move in found.moves)
    gained = sum(move.change > 0 for move in found.moves)
    if not found.moves:
        return [*lines, here.say("cli.diff.same", number=found.compared)]
    said = here.say(
        "cli.diff.moved", moved=len(found.moves), number=found.compared, lost=lost, gained=gained
    )
    return [*lines, *wrap(said)]


def _row(move: "Move", here: Desk) -> str:
    none = here.say("cli.diff.none")
    return here.say(
        "cli.diff.row",
        change=f"{move.change:+d}".rjust(4),
        student=move.student,
        assignment=move.assignment,
        old=none if move.old is None else move.old,
        new=none if move.new is None else move.new,
    )
