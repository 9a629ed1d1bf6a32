"""`grade check`: grades files on this computer and shows what is missing."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.assignment import Assignment
from grader.cli import arguments, outputs, screen, terminal, typed, working
from grader.cli.listing import available, named
from grader.cli.parameters import OneOf, Option, Place
from grader.cli.root import Command, desk, shared_options
from grader.model import Language, OpenedFile, Reading
from grader.texts import catalog

if TYPE_CHECKING:
    from grader.reader.client import Reader
    from grader.reading import attribution

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A file that can be graded, with the assignments it is graded for."""

    path: Path
    reading: Reading
    assignments: tuple[Assignment, ...]


def command(language: Language) -> click.Command:
    def option(flags: str, key: str, **settings: Any) -> Option:
        return Option(flags.split(), help=catalog.say(language, f"cli.check.{key}"), **settings)

    levels = OneOf(["auto", "full", "portable"])
    return Command(
        "check",
        callback=_run,
        params=[
            click.Argument(["files"], nargs=-1, required=True, metavar="FILE..."),
            option("--assignment ids", "assignment", multiple=True, metavar="ID"),
            option("--all", "all", is_flag=True),
            option("--json json_", "json", metavar="PATH|-"),
            option("--out", "out", metavar="DIR", type=Place(file_okay=False)),
            option("--seed", "seed", default="0", metavar="N"),
            option("--fail-under", "fail_under", metavar="PERCENT"),
            option("--audience", "audience", type=_AUDIENCES, default="student"),
            option("--sandbox", "sandbox", type=levels, default="auto"),
            option("--time-factor", "time_factor", default="3", metavar="X"),
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.check.help"),
    )


_AUDIENCES = OneOf(["student", "staff"])


@click.pass_context
def _run(ctx: click.Context, /, files: Sequence[str], **options: Any) -> int:
    here = desk(ctx)
    needed = arguments.percent(options["fail_under"])
    seed = arguments.seed(options["seed"])
    factor = arguments.factor(options["time_factor"])
    submitted = _opened(arguments.paths(files), here.language)
    wanted = outputs.Wanted(json=options["json_"], folder=options["out"])
    outputs.refuse_sources(wanted)
    known = available(here)
    chosen = tuple({(one := named(id_, known)).id: one for id_ in options["ids"]}.values())
    style = screen.Style(
        language=here.language,
        now=datetime.now().astimezone(),
        command=typed.command(),
        everything=options["all"],
    )

    from grader import grading
    from grader.reader.client import Reader

    settings = grading.Settings(
        seed=seed,
        sandbox=options["sandbox"],
        time_factor=factor,
        audience=options["audience"],
    )
    with contextlib.ExitStack() as stack:
        # Both start now; a question about the file must not wait for PyTorch.
        reader = stack.enter_context(Reader().start())
        judge = stack.enter_context(grading.Judge.start(settings))
        read = [_understood(*each, reader, known, chosen, here.language) for each in submitted]
        reader.close()
        terminal.say(here.say("cli.starting"))
        pairs = [(each.path, one.id) for each in read for one in each.assignments]
        outputs.prepare(wanted, [f"{path}: {id_}" for path, id_ in pairs])
        names = iter(outputs.names(pairs))
        codes: list[int] = []
        for each in read:
            with working.Working(str(each.path), here) as stage:
                judge.hear = stage.hear
                reports = [judge.grade(each.reading, one) for one in each.assignments]
            if not wanted.only_json:
                lines = screen.draw(reports, _shown(each, known), style)
                terminal.show([*([""] if codes else []), "", *lines])
            for report in reports:
                outputs.write(report, next(names), wanted, here)
            codes += [exit_code(report, needed) for report in reports]
        if here.debug or options["audience"] == "staff":
            terminal.say(*judge.failures)
    return max(codes)


def exit_code(report: Report, needed: Fraction | None) -> int:
    """0 when enough points are earned, 1 when not, 3 when the grader failed.

    Enough is every point that could be decided here, or `needed` percent of them; of a file
    that could not be read every point was decided.
    """
    if report["status"] == "grader_failed":
        return 3
    decided = report["decided"] if report["status"] == "graded" else report["max_score"]
    share = Fraction(100) if needed is None else needed
    return 0 if report["score"] * 100 >= decided * share else 1


def _opened(paths: Sequence[Path], language: Language) -> list[tuple[Path, OpenedFile]]:
    from grader import submission

    return [(path, submission.read(path, language=language)) for path in paths]


def _understood(
    path: Path,
    opened: OpenedFile,
    reader: "Reader",
    known: Sequence[Assignment],
    chosen: Sequence[Assignment],
    language: Language,
) -> Understood:
    from grader.reading import attribution

    functions = {entry.name for each in known for entry in each.entry_points}
    reading = reader.understand(opened, functions)
    if len(chosen) == 1:
        return Understood(path=path, reading=reading, assignments=tuple(chosen))
    candidates = [_candidate(each) for each in chosen or known]
    ids = attribution.attribute(reading, candidates, language=language)
    found = tuple(each for each in known if each.id in ids)
    return Understood(path=path, reading=reading, assignments=found)


def _candidate(assignment: Assignment) -> "attribution.Candidate":
    from grader.reading import attribution

    return attribution.Candidate(
        id=assignment.id,
        entry_points=tuple(entry.name for entry in assignment.entry_points),
        variables=assignment.variables,
    )


def _shown(graded: Understood, known: Sequence[Assignment]) -> screen.Shown:
    reading = graded.reading
    return screen.Shown(
        file=str(graded.path),
        kind=reading.submission.kind,
        saved=datetime.fromtimestamp(graded.path.stat().st_mtime).astimezone(),
        quotes=_quotes(reading),
        absent=tuple(
            (each.id, tuple(entry.name for entry in each.entry_points))
            for each in known
            if each not in graded.assignments
        ),
        complete=all(each.edition == "staff" for each in graded.assignments),
    )


def _quotes(reading: Reading) -> dict[int, str]:
    """The first line of code of each notebook cell that is executed."""
    quotes: dict[int, str] = {}
    for piece in reading.source.pieces if reading.source else ():
        if piece.cell is not None:
            lines = [line.strip() for line in piece.text.splitlines() if line.strip()]
            code = [line for line in lines if not line.startswith("#")]
            quotes.setdefault(piece.cell, (code or lines or [""])[0])
    return quotes
