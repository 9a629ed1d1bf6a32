"""`grade merge`: joins the parts of a sharded batch."""

from collections.abc import Sequence
from pathlib import Path

import click

from grader.cli import digests, terminal
from grader.cli.layout import wrap
from grader.cli.parameters import Option, Place
from grader.cli.root import Command, desk, shared_options
from grader.model import Language
from grader.texts import catalog


def command(language: Language) -> click.Command:
    folder = Place(exists=True, file_okay=False)
    return Command(
        "merge",
        callback=_run,
        params=[
            click.Argument(["folders"], nargs=-1, required=True, metavar="OUT...", type=folder),
            Option(
                ["--out"],
                required=True,
                metavar="DIR",
                type=Place(file_okay=False),
                help=catalog.say(language, "cli.merge.out"),
            ),
            digests.option(language, "merge"),
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.merge.help"),
    )


@click.pass_context
def _run(ctx: click.Context, /, folders: Sequence[str], out: str, summary: str | None) -> int:
    from grader.bulk import merge, store

    here = desk(ctx)
    parts = merge.read_parts([Path(folder) for folder in folders])
    with store.locked(Path(out)) as opened:
        try:
            number = merge.join(parts, opened, here.language)
        except store.NoRoom as error:
            terminal.say(here.say("cli.batch.no_room", file=str(error)))
            return 3
    terminal.show(wrap(here.say("cli.merge.merged", count=len(parts), number=number, folder=out)))
    return digests.add(Path(out), summary, here)
