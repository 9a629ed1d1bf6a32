"""`--summary FILE`: the counts of a batch, added to a file once the results are safe."""

from pathlib import Path

from grader.cli import terminal
from grader.cli.parameters import Option, Place
from grader.cli.root import Desk, sentence
from grader.errors import UsageProblem
from grader.model import Language
from grader.texts import catalog


def option(language: Language, command: str) -> Option:
    return Option(
        ["--summary"],
        metavar="FILE",
        type=Place(dir_okay=False),
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
        terminal.say(sentence(error, here.language))
        return 2
    return 0
