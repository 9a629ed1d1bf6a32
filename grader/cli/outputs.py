"""Where `grade check` writes reports: one file, one folder, or standard output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.cli import terminal
from grader.cli.arguments import SUFFIXES
from grader.cli.root import Desk, usage
from grader.texts.reasons import why

SCREEN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for: `json` is a path or `-`, `folder` takes one file per report."""

    json: str | None
    folder: str | None

    @property
    def only_json(self) -> bool:
        return self.json == SCREEN


def refuse_sources(wanted: Wanted) -> None:
    """Refuse `--json hw4.py`: the file's name was forgotten, and a submission would be lost."""
    if wanted.json and Path(wanted.json).suffix.lower() in SUFFIXES:
        raise usage("json_source", file=wanted.json)


def prepare(wanted: Wanted, reports: Sequence[str]) -> None:
    """Refuse before anything is graded what could not be written afterwards.

    Args:
        reports: for each report that will come, its file and assignment in words.
    """
    if wanted.json and len(reports) > 1:
        raise usage("json_one", count=len(reports), reports=[*reports])
    if wanted.json and not wanted.only_json and not Path(wanted.json).parent.is_dir():
        folder = str(Path(wanted.json).parent)
        raise usage("no_folder", file=wanted.json, folder=folder)
    if wanted.folder:
        try:
            Path(wanted.folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = why(error)
            raise usage("cannot_write", file=wanted.folder, reason=reason) from error


def names(graded: Sequence[tuple[Path, str]]) -> list[str]:
    """`hw4.hw4.json` for each (file, assignment), numbered where two files share a name.

    Compared without case: some file systems know no difference.
    """
    taken: set[str] = set()
    result: list[str] = []
    for path, assignment in graded:
        name, number = f"{path.stem}.{assignment}.json", 2
        while name.casefold() in taken:
            name, number = f"{path.stem}-{number}.{assignment}.json", number + 1
        taken.add(name.casefold())
        result.append(name)
    return result


def write(report: Mapping[str, Any], name: str, wanted: Wanted, here: Desk) -> None:
    """Write the report to each place that was asked for."""
    from grader import report as reports

    if wanted.only_json:
        terminal.emit(reports.dumps(report))
    targets = [] if wanted.only_json or not wanted.json else [Path(wanted.json)]
    targets += [Path(wanted.folder) / name] if wanted.folder else []
    for target in targets:
        reports.write(report, target)
        terminal.say(here.say("cli.written", path=str(target)))
