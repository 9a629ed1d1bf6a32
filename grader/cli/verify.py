"""`grade verify`: whether assignments accept right answers and refuse wrong ones."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from grader import assignment as assignments
from grader.assignment import Assignment
from grader.cli import findings, outputs, terminal
from grader.cli.parameters import Option
from grader.cli.root import Command, Desk, desk, shared_options, usage
from grader.errors import AssignmentError, UsageProblem
from grader.model import Language
from grader.texts import catalog

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from grader.verifying.proof import Progress
    from grader.verifying.records import Verification

_SEEDS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A folder whose assignment.toml or rubric.toml cannot be read."""

    name: str
    problems: tuple[str, ...]


def command(language: Language) -> click.Command:
    def option(flags: str, key: str, **settings: Any) -> Option:
        return Option(flags.split(), help=catalog.say(language, f"cli.verify.{key}"), **settings)

    return Command(
        "verify",
        callback=_run,
        params=[
            click.Argument(["ids"], nargs=-1, metavar="[ID...]"),
            option("--strict", "strict", is_flag=True),
            option("--update", "update", is_flag=True),
            option("--json json_", "json", metavar="PATH|-"),
            option("--seeds", "seeds", default=str(_SEEDS), metavar="N"),
            option("--jobs", "jobs", metavar="N"),
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.verify.help"),
    )


@click.pass_context
def _run(ctx: click.Context, /, ids: Sequence[str], **options: Any) -> int:
    here = desk(ctx)
    seeds = _count(options["seeds"], "seeds")
    jobs = _count(options["jobs"], "jobs") if options["jobs"] is not None else None
    wanted = outputs.Wanted(json=options["json_"], folder=None)
    outputs.refuse_sources(wanted)
    outputs.prepare(wanted, [])
    chosen = _chosen(ids, here)
    terminal.say(here.say("cli.starting"))
    found = list(_verified(chosen, here, seeds, jobs, wanted, options))
    _write(found, wanted, here, strict=options["strict"])
    return 1 if any(each.verdict == "failed" for each in found) else 0


def _count(typed: str, option: str) -> int:
    if not (typed.isascii() and typed.isdecimal() and int(typed) > 0):
        raise UsageProblem(catalog.text("cli.verify.count", option=option, value=typed))
    return int(typed)


# --- which assignments ---------------------------------------------------------------------------


def _chosen(ids: Sequence[str], here: Desk) -> list[Assignment | Unreadable]:
    """The assignments that were asked for, or all; one that cannot be read is a finding, too."""
    known = [_read(folder) for folder in _folders(here)]
    if not known:
        searched = assignments.search_folders(here.assignments, os.environ)
        raise usage("no_assignments", folder=[*map(str, searched)] or "-")
    chosen: list[Assignment | Unreadable] = []
    for id_ in ids:
        named = [each for each in known if _is_called(each, id_.lower())]
        if not named:
            raise usage("no_such_assignment", name=id_, known=[_name(each) for each in known])
        chosen += [each for each in named if each not in chosen]
    return chosen or sorted(known, key=lambda each: assignments.natural(_name(each)))


def _folders(here: Desk) -> Iterator[Path]:
    for parent in assignments.search_folders(here.assignments, os.environ):
        for folder in [parent, *sorted(parent.iterdir())]:
            if not folder.name.startswith(".") and (folder / "assignment.toml").is_file():
                yield folder


def _read(folder: Path) -> Assignment | Unreadable:
    try:
        return assignments.load(folder)
    except AssignmentError as error:
        return Unreadable(name=folder.name, problems=error.problems)


def _name(each: Assignment | Unreadable) -> str:
    return each.id if isinstance(each, Assignment) else each.name


def _is_called(each: Assignment | Unreadable, id_: str) -> bool:
    """Of a folder that cannot be read, only its name tells the id: `hw4_rope`."""
    name = _name(each)
    return name == id_ or (isinstance(each, Unreadable) and name.startswith(f"{id_}_"))


# --- verifying -----------------------------------------------------------------------------------


def _verified(
    chosen: Sequence[Assignment | Unreadable],
    here: Desk,
    seeds: int,
    jobs: int | None,
    wanted: outputs.Wanted,
    options: Any,
) -> Iterator["Verification"]:
    """Each assignment's findings, shown as soon as they are there."""
    from grader.verifying import proof
    from grader.verifying.bench import Bench, cores

    wish = proof.Wish(seeds=seeds, update=options["update"])
    with Bench(size=jobs or cores()) as bench:
        for each in chosen:
            if isinstance(each, Unreadable):
                found = proof.unreadable(each.name, each.problems)
            else:
                with _progress(here) as progress:
                    found = proof.verify(each, bench, wish, progress)
            if options["strict"]:
                found = found.hardened()
            if not wanted.only_json:
                terminal.show(["", *findings.draw(found, here)])
            yield found


@contextmanager
def _progress(here: Desk) -> Iterator["Progress"]:
    """A bar where a person watches, a line elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines(here)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar)


class _Lines:
    def __init__(self, here: Desk) -> None:
        self.here = here

    def begin(self, id: str, total: int) -> None:
        terminal.say(self.here.say("cli.verify.progress", id=id, total=total))

    def tick(self) -> None:
        """Logs of CI keep every line; one for each answer would bury the rest."""


class _Bar:
    def __init__(self, bar: "Bar") -> None:
        self.bar = bar
        self.task = bar.add_task("", total=None)

    def begin(self, id: str, total: int) -> None:
        self.bar.update(self.task, description=id, total=total)

    def tick(self) -> None:
        self.bar.advance(self.task)


# --- the file ----------------------------------------------------------------------------------


def _write(
    found: Sequence["Verification"], wanted: outputs.Wanted, here: Desk, *, strict: bool
) -> None:
    if not wanted.json:
        return
    from grader.files import replace_file
    from grader.verifying.records import document

    text = json.dumps(document(found, strict=strict), ensure_ascii=True, indent=2) + "\n"
    if wanted.only_json:
        terminal.emit(text)
        return
    replace_file(Path(wanted.json), text.encode("ascii"))
    terminal.say(here.say("cli.written", path=wanted.json))
