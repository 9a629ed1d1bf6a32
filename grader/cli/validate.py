"""`grade validate`: whether files are reports that other programs can rely on."""

from collections.abc import Sequence
from pathlib import Path

import click

from grader.cli import terminal
from grader.cli.layout import wrap
from grader.cli.root import Command, Desk, desk, sentence, shared_options
from grader.errors import UsageProblem
from grader.model import Language
from grader.texts import catalog

# Whoever writes reports mends the first ones first; a foreign file may be wrong in every line.
_MOST = 200


def command(language: Language) -> click.Command:
    return Command(
        "validate",
        callback=_run,
        params=[
            click.Argument(["files"], nargs=-1, required=True, metavar="FILE..."),
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.validate.help"),
    )


@click.pass_context
def _run(ctx: click.Context, files: Sequence[str]) -> int:
    here = desk(ctx)
    return max([_validated(file, here) for file in files])


def _validated(file: str, here: Desk) -> int:
    """0 for a valid report, 1 for another JSON file, 2 where there is no JSON at all."""
    from grader import report as reports
    from grader import validation

    try:
        found = reports.read(Path(file))
    except UsageProblem as problem:  # the other files are still looked at
        terminal.say(sentence(problem, here.language))
        return 2
    # A report of a later 1.x may have keys that this version does not know.
    version = found.get("schema_version") if isinstance(found, dict) else None
    wrong = validation.faults(found, consumer=version != "1.0")
    if not wrong:
        terminal.show(wrap(here.say("cli.validate.ok", file=file)))
        return 0
    rows = wrap(here.say("cli.validate.bad", file=file))
    for each in wrong[:_MOST]:
        rows += wrap(each.in_language(here.language), first="  ", rest="      ")
    if len(wrong) > _MOST:
        rows += wrap(here.say("cli.validate.and_more", count=len(wrong) - _MOST), first="  ")
    terminal.show(rows)
    return 1
