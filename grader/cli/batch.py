"""`grade batch`: grades a class, and continues what an earlier run left."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.assignment import Assignment
from grader.cli import arguments, batch_screen, digests, progress, terminal
from grader.cli.listing import available, named
from grader.cli.parameters import AtLeast, OneOf, Option, Place
from grader.cli.root import Command, Desk, desk, shared_options
from grader.errors import UsageProblem
from grader.model import Language
from grader.texts import catalog

if TYPE_CHECKING:
    from grader.bulk.archive_reader import ArchiveReader
    from grader.bulk.archives import Locator
    from grader.bulk.batch import Batch, Engine
    from grader.bulk.plan import Job, Plan
    from grader.bulk.run_record import Shard
    from grader.bulk.store import Store

_UNATTRIBUTED, _FAILED, _INTERRUPTED = 1, 3, 130
_LAYOUTS = ("auto", "files", "folders", "sections")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command as it was typed, understood."""

    source: Path
    out: Path
    known: tuple[Assignment, ...]
    chosen: tuple[Assignment, ...]
    options: Mapping[str, Any]
    seed: int | None
    shard: "Shard | None"
    until: str | None
    pattern: "re.Pattern[str] | None"
    jobs: int


def command(language: Language) -> click.Command:
    def option(flags: str, key: str, **settings: Any) -> Option:
        return Option(flags.split(), help=catalog.say(language, f"cli.batch.{key}"), **settings)

    def path() -> Place:
        return Place(dir_okay=False)

    levels = OneOf(["auto", "full", "portable"])
    return Command(
        "batch",
        callback=_run,
        params=[
            click.Argument(["source"], metavar="DIR", type=Place(exists=True)),
            option("--out", "out", required=True, metavar="DIR", type=Place(file_okay=False)),
            option("--assignment ids", "assignment", multiple=True, metavar="ID"),
            option("--jobs", "jobs", type=AtLeast(1), metavar="N"),
            option("--engine", "engine", type=OneOf(["local", "dask"]), default="local"),
            option("--scheduler", "scheduler", metavar="ADDRESS"),
            option("--seed", "seed", metavar="N"),
            option("--shard", "shard", metavar="I/N"),
            option("--student-pattern pattern", "pattern", metavar="REGEX"),
            option("--layout", "layout", type=OneOf([*_LAYOUTS]), default="auto"),
            option("--until", "until", metavar="TIME"),
            option("--roster", "roster", metavar="CSV", type=path()),
            option("--pseudonym-key key", "key", metavar="FILE", type=path()),
            option("--sandbox", "sandbox", type=levels, default="auto"),
            option("--allow-reduced", "allow_reduced", is_flag=True),
            option("--fresh", "fresh", is_flag=True),
            digests.option(language, "batch"),
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.batch.help"),
    )


@click.pass_context
def _run(ctx: click.Context, /, source: str, **options: Any) -> int:
    here = desk(ctx)
    asked = _understood(Path(source), options, here)

    from grader.bulk import store
    from grader.bulk.batch import Reduced
    from grader.bulk.cluster_terms import ClusterFailed

    with store.locked(asked.out) as opened:
        try:
            return _graded(asked, opened, here)
        except KeyboardInterrupt:
            terminal.say(here.say("cli.batch.stopped"))
            return _INTERRUPTED
        except store.NoRoom as error:
            terminal.say(here.say("cli.batch.no_room", file=str(error)))
        except Reduced as error:
            terminal.say(*batch_screen.reduced(error, here))
        except ClusterFailed as error:
            terminal.say(*batch_screen.cluster_failed(error, here))
    return _FAILED


# --- what was typed ------------------------------------------------------------------------


def _understood(source: Path, options: Mapping[str, Any], here: Desk) -> Asked:
    known = available(here)
    chosen = tuple({(one := named(id_, known)).id: one for id_ in options["ids"]}.values())
    seed = None if options["seed"] is None else arguments.seed(options["seed"])
    shard = _shard(options["shard"])
    if shard is not None and seed is None:
        raise _usage("shard_seed")
    if shard is not None and _can_be_guessed(seed):
        raise _usage("shard_seed_short", value=seed)
    _check_engine(options)
    return Asked(
        source=source,
        out=Path(options["out"]),
        known=known,
        chosen=chosen or known,
        options=options,
        seed=seed,
        shard=shard,
        until=_until(options["until"]),
        pattern=_pattern(options["pattern"]),
        jobs=options["jobs"] or _cores(),
    )


def _usage(code: str, **args: Any) -> UsageProblem:
    return UsageProblem(catalog.text(f"cli.batch.usage.{code}", **args))


def _check_engine(options: Mapping[str, Any]) -> None:
    """Refuse what no engine can do, before anything is read."""
    address = options["scheduler"]
    if options["engine"] == "local":
        if address is not None:
            raise _usage("scheduler_alone")
        return
    try:
        from grader.bulk import cluster_client
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "grader":
            raise
        raise _usage("engine_missing") from error
    if address is None:
        return
    if options["jobs"] is not None:
        raise _usage("scheduler_jobs")
    if problem := cluster_client.address_problem(address):
        raise _usage("scheduler_address", value=address, problem=problem)


def _can_be_guessed(seed: int | None) -> bool:
    """Whether somebody could find the seed by trying: a student's report is made with it."""
    return seed is not None and seed < 1 << 63


def _cores() -> int:
    """The cores that this process may use, not those of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _shard(typed: str | None) -> "Shard | None":
    from grader.bulk.run_record import Shard

    if typed is None:
        return None
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", typed)
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= count:
        raise _usage("shard", value=typed)
    return Shard(index=index, count=count)


def _until(typed: str | None) -> str | None:
    from grader.bulk.moments import in_utc

    moment = in_utc(typed) if typed is not None else None
    if typed is not None and moment is None:
        raise _usage("until", value=typed)
    # 23:59 lasts until it is 00:00.
    whole_minute = typed is not None and re.search(r"[ T]\d\d:\d\d(?!:?\d)", typed)
    return f"{moment[:-3]}59Z" if moment and whole_minute else moment


def _pattern(typed: str | None) -> "re.Pattern[str] | None":
    if typed is None:
        return None
    try:
        return re.compile(typed)
    except re.error as error:
        raise _usage("pattern", value=typed, problem=str(error)) from error


# --- the batch -----------------------------------------------------------------------------


def _graded(asked: Asked, opened: "Store", here: Desk) -> int:
    from grader.bulk import batch
    from grader.bulk.archive_reader import ArchiveReader

    with closing(ArchiveReader()) as files:
        shown, real, todo = _planned(asked, opened, files, here)
        if not todo.whole.jobs:
            terminal.show(batch_screen.listed(shown.left, here))
            raise _usage("nothing", folder=str(asked.source))
        # A log may be anybody's to read; the names stand on the screen at the end, too.
        hidden = asked.options["key"] is not None or not terminal.is_watched()
        terminal.say(*batch_screen.understood(shown, here, hidden=hidden))
        engine = _engine(asked, todo, files, lambda job: real.get(job, job).locator, here)
        with progress.shown(here) as tell:
            finished = batch.carry_out(todo, engine, tell)
    terminal.show(batch_screen.screen(shown, todo, finished, here))
    graded = _FAILED if finished.failed else _UNATTRIBUTED if shown.left else 0
    return max(graded, digests.add(opened.folder, asked.options["summary"], here))


def _engine(
    asked: Asked,
    todo: "Batch",
    files: "ArchiveReader",
    locate: "Callable[[Job], Locator]",
    here: Desk,
) -> "Engine":
    from grader import grading
    from grader.bulk import batch

    settings = grading.Settings(
        seed=todo.under.seed,
        sandbox=asked.options["sandbox"],
        time_factor=1.0,
        per_fork=grading.PER_FORK,
        demanded=todo.under.demanded,
        preload=tuple(
            sorted({name for each in todo.assignments.values() for name in each.packages or ()})
        ),
    )
    if asked.options["engine"] == "dask":
        from grader.bulk.cluster import Dask

        return Dask(
            settings=settings,
            assignments=todo.assignments,
            under=todo.under,
            load=batch.opener(files, locate),
            jobs=asked.jobs,
            scheduler=asked.options["scheduler"],
            folder=here.assignments,
            debug=here.debug,
        )
    from grader.bulk.engine import Local

    return Local(
        settings=settings,
        assignments=todo.assignments,
        jobs=min(asked.jobs, max(1, len(todo.plan.jobs))),
        locate=locate,
    )


def _planned(
    asked: Asked, opened: "Store", files: "ArchiveReader", here: Desk
) -> "tuple[Plan, dict[Any, Any], Batch]":
    """The plan with every name, the jobs by their pseudonymous twins, and the batch."""
    from grader.bulk import inbox, layers, planning, pseudonyms, roster, run_record
    from grader.bulk import plan as plans
    from grader.bulk.batch import Batch

    roster_file, key_file = asked.options["roster"], asked.options["key"]
    members = roster.read(Path(roster_file)) if roster_file else roster.Roster()
    key = _key(Path(key_file), here) if key_file else None
    ids = [each.id for each in asked.known]
    rules = layers.Rules(pattern=asked.pattern, ids=ids, layout=asked.options["layout"])
    arrived = inbox.look(asked.source, files, rules, outside=asked.out)
    wanted = plans.Wanted(known=asked.known, chosen=asked.chosen, until=asked.until)
    shown = whole = planning.make(arrived, files, wanted, members)
    real: dict[Any, Any] = {}
    if key is not None:
        whole = pseudonyms.hide(shown, key)
        by_name = {pseudonyms.pseudonym(key, job.student): job.student for job in shown.jobs}
        known = {(job.student, job.assignment, job.attempt): job for job in shown.jobs}
        real = {job: known[by_name[job.student], job.assignment, job.attempt] for job in whole.jobs}
        pseudonyms.write_table(shown, key, Path(f"{key_file}.students.csv"))
    fingerprint = pseudonyms.fingerprint(key) if key is not None else None
    under = run_record.conditions(
        _seed(asked, opened, fingerprint, here),
        allow_reduced=asked.options["allow_reduced"],
        pseudonym_key=fingerprint,
        until=asked.until,
    )
    part = whole.shard(asked.shard.index, asked.shard.count) if asked.shard else whole
    return (
        shown,
        real,
        Batch(
            plan=part,
            whole=whole,
            assignments={each.id: each for each in asked.known},
            under=under,
            store=opened,
            shard=asked.shard,
            fresh=asked.options["fresh"],
            language=here.language,
        ),
    )


def _key(path: Path, here: Desk) -> bytes:
    from grader.bulk import pseudonyms

    key, made = pseudonyms.key(path)
    if made:
        terminal.say(here.say("cli.batch.key_made", file=str(path)))
    return key


def _seed(asked: Asked, opened: "Store", fingerprint: str | None, here: Desk) -> int:
    """The seed of the earlier run, the one that was typed, or a new one."""
    import secrets

    from grader.bulk import run_record

    earlier = opened.seed()
    if (asked.out / run_record.NAME).exists():
        try:
            run = run_record.read(asked.out)
        except UsageProblem:
            terminal.say(here.say("cli.batch.run_damaged", folder=str(asked.out)))
        else:
            _refuse_another(run, asked, fingerprint)
    if earlier is not None and asked.seed not in (None, earlier) and not asked.options["fresh"]:
        raise _usage("other_seed", folder=str(asked.out), seed=earlier)
    if asked.seed is not None:
        if _can_be_guessed(asked.seed):
            terminal.say(here.say("cli.batch.seed_short"))
        return asked.seed
    # Drawn once; 128 bits, so that nobody finds the hidden inputs by trying seeds against the
    # `report_id` of a student's report.
    return earlier if earlier is not None else secrets.randbits(128)


def _refuse_another(run: Mapping[str, Any], asked: Asked, fingerprint: str | None) -> None:
    """Refuse to mix two batches in one folder."""
    shard = asked.shard
    mine = {"index": shard.index, "count": shard.count} if shard else None
    if run["shard"] != mine:
        theirs = run["shard"]
        said = f"{theirs['index']}/{theirs['count']}" if theirs else "-"
        raise _usage("other_shard", folder=str(asked.out), shard=said)
    if run["pseudonym_key"] != fingerprint:
        raise _usage("other_key", folder=str(asked.out))
