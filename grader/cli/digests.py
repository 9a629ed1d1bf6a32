"""`--summary FILE`: the counts of a batch, added to a file once the results are safe."""

from pathlib import Path

import click

from grader.cli import terminal
from grader.cli.root import Desk
from grader.errors import UsageProblem
from grader.model import Language, Text
from grader.texts import catalog


def option(language: Language, command: str) -> click.Option:
    return click.Option(
        ["--summary"],
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help=catalog.say(language, f"cli.{command}.summary"),
    )


def add(folder: Path, file: str | None, here: Desk) -> int:
    """The exit code: 2 when the digest of the folder cannot be added, which is told here."""
    if file is None:
        return 0
    from grader.bulk import digest

    try:
        digest.append(Path(file), digest.of(folder, here.language))
    except UsageProblem as error:
        told = error.args[0]
        terminal.say(told.in_language(here.language) if isinstance(told, Text) else str(error))
        return 2
    return 0
