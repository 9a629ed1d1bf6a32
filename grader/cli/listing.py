"""`grade list`: the assignments that can be graded here."""

import os
from collections.abc import Sequence

import click

from grader import assignment
from grader.assignment import Assignment
from grader.cli import terminal
from grader.cli.layout import WIDTH, columns, pad, wrap
from grader.cli.root import Command, Desk, desk, shared_options, usage
from grader.model import Language
from grader.texts import catalog


def command(language: Language) -> click.Command:
    return Command(
        "list",
        callback=_run,
        params=shared_options(language),
        help=catalog.say(language, "cli.list.help"),
    )


@click.pass_context
def _run(ctx: click.Context) -> None:
    here = desk(ctx)
    terminal.show(overview(available(here), here))


def available(here: Desk) -> tuple[Assignment, ...]:
    """Every assignment that can be graded here; a usage problem where there is none."""
    found = assignment.find_all(here.assignments, os.environ)
    if not found:
        folders = assignment.search_folders(here.assignments, os.environ)
        raise usage("no_assignments", folder=[*map(str, folders)] or "-")
    return found


def named(id_: str, found: Sequence[Assignment]) -> Assignment:
    """The assignment with this id, upper or lower case."""
    for each in found:
        if each.id == id_.lower():
            return each
    raise usage("no_such_assignment", name=id_, known=[each.id for each in found])


def overview(found: Sequence[Assignment], here: Desk) -> list[str]:
    """One line per assignment: id, points, title; for staff also where they come from."""
    ids = max(columns(each.id) for each in found)
    points = [here.say("cli.list.points", points=each.max_score) for each in found]
    widest = max(columns(each) for each in points)
    rows: list[str] = []
    for each, worth in zip(found, points, strict=True):
        first = f"{pad(each.id, ids)}  {' ' * (widest - columns(worth))}{worth}  "
        rows += wrap(each.title.in_language(here.language), first=first, width=WIDTH)
    if here.debug or here.assignments is not None:
        folder = str(found[0].folder.parent)
        edition = here.say(f"cli.list.{found[0].edition}")
        rows += ["", *wrap(here.say("cli.list.folder", folder=folder, edition=edition))]
    return rows
