"""A batch from its plan to the finished folder, whatever the engine."""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

from grader.assignment import Assignment
from grader.bulk import engine, keeping, run_record, tables
from grader.bulk.archive_reader import ArchiveReader
from grader.bulk.archives import Locator
from grader.bulk.engine import Lost, Refused, Result, Task
from grader.bulk.plan import Job, Plan
from grader.bulk.run_record import Conditions, Shard
from grader.bulk.store import FAILURES, Earlier, Store, named
from grader.bulk.tables import Row
from grader.claims import clean
from grader.errors import GraderError, UsageProblem
from grader.model import Language, OpenedFile

FULL = "full"
# Of what went wrong with one job.
_LOGGED = 20_000


class Reduced(Exception):
    """This machine cannot lock submissions in as official grading demands."""

    def __init__(self, level: str, layers: Sequence[str]) -> None:
        super().__init__(level)
        self.level = level
        self.layers = tuple(layers)


class Engine(Protocol):
    """Grades jobs somewhere; results come in any order. Nothing is started for no jobs."""

    def run(
        self, planned: Sequence[Job]
    ) -> Generator[tuple[Job, Result | Lost | Refused], None, None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What is to be done, and where the results go.

    Args:
        whole: the plan of all shards; `plan` is the part that this run grades.
    """

    plan: Plan
    whole: Plan
    assignments: Mapping[str, Assignment]
    under: Conditions
    store: Store
    shard: Shard | None = None
    fresh: bool = False
    language: Language = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far it has come: `graded` now, `reused` from an earlier run, of `planned`."""

    planned: int
    reused: int
    graded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How it went; `failed` and `damaged` are the jobs without a usable or earlier report."""

    graded: int
    reused: int
    damaged: tuple[Job, ...]
    failed: tuple[tuple[Job, str], ...]
    rows: tuple[Row, ...]


def carry_out(batch: Batch, by: Engine, tell: Callable[[Progress], None]) -> Finished:
    """Grade what an earlier run has not, and write everything as it comes.

    Raises:
        Reduced: the sandbox level is not the demanded one; nothing of it was written.
        NoRoom: the disk is full; a second run continues.
    """
    run = run_record.record(
        batch.plan, batch.whole, [*batch.assignments.values()], batch.under, batch.shard
    )
    # Read before the record is written anew.
    kept = keeping.joined(batch.store, run)
    batch.store.put_run(kept.run)
    sifted = _sifted(batch)
    levels = {*sifted.levels, *((kept.level,) if kept.rows else ())}
    progress = Progress(planned=len(batch.plan.jobs), reused=len(sifted.kept), graded=0)
    tell(progress)
    rows: dict[Job, Row] = dict(sifted.kept)
    failed: list[tuple[Job, str]] = []
    # Closed, whatever ends this: nobody must go on grading for a folder that is full.
    shared = _shared(sifted.todo)
    waiting = {job for job in sifted.todo if job.counts}
    # Old attempts come last; they may take long, and change nothing in the tables.
    early = len(waiting) < len(sifted.todo)
    with closing(by.run([*shared])) as results:
        for graded, result in results:
            if isinstance(result, Refused):
                raise Reduced(result.level, result.layers)
            for job in shared[graded]:
                failure = result.failure
                if isinstance(result, Result):
                    levels.add(_allowed(result, batch.under))
                    try:
                        rows[job] = _written(job, result, batch)
                    except (GraderError, UsageProblem) as error:
                        # A name or date that no report can hold costs this one, in every run.
                        failure = f"its report cannot be written: {error}"
                if failure is not None:
                    failed.append((job, failure))
                waiting.discard(job)
                progress = replace(progress, graded=progress.graded + 1)
            tell(progress)
            if early and not waiting:
                early = False
                write_tables(batch.store, kept.run, _counting(rows, kept.rows), batch.language)
    ended = _ended(kept.run, levels)
    finish(batch.store, ended, _counting(rows, kept.rows), batch.language)
    _log(batch.store, failed)
    return Finished(
        graded=progress.graded,
        reused=len(sifted.kept),
        damaged=tuple(sifted.damaged),
        failed=tuple(sorted(failed, key=lambda each: (each[0].assignment, each[0].student))),
        rows=tuple(rows.values()),
    )


def finish(
    store: Store, run: Mapping[str, Any], rows: Sequence[Row], language: Language = "en"
) -> None:
    """Write the tables, then `run.json`, which says that they are complete."""
    write_tables(store, run, rows, language)
    store.put_run(run)


def write_tables(
    store: Store, run: Mapping[str, Any], rows: Sequence[Row], language: Language
) -> None:
    """Write what people and programs read of a class.

    Args:
        language: of people who read a table of their own; programs read `scores.csv`.
    """
    if language != "en":
        people = store.folder / f"scores.{language}.csv"
        store.put(people, tables.scores_for_people(run, rows, language))
    store.put(store.folder / "scores.csv", tables.scores_csv(run, rows))
    store.put(store.folder / "summary.json", tables.summary(run, rows))


def opener(files: ArchiveReader, locate: Callable[[Job], Locator]) -> Callable[[Job], Task]:
    """What a job has to be sent as; refuses bytes that are not the planned ones any more."""

    def task(job: Job) -> Task:
        submission = engine.handed_in(job)
        if job.unread is not None:
            nothing = OpenedFile(submission=submission, content=b"")
            return Task(assignment=job.assignment, opened=nothing, unread=job.unread)
        # It travels to another machine, and waits in memory until a judge is free.
        opened = files.without_outputs(locate(job), submission)
        return Task(assignment=job.assignment, opened=opened)

    return task


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sifted:
    """What still holds, and what has to be graded (of that: what was damaged)."""

    kept: dict[Job, Row]
    levels: set[str | None]
    todo: list[Job]
    damaged: list[Job]


def _sifted(batch: Batch) -> _Sifted:
    sifted = _Sifted(kept={}, levels=set(), todo=[], damaged=[])
    for job in batch.plan.jobs:
        if batch.fresh:
            sifted.todo.append(job)
            continue
        try:
            digest = batch.assignments[job.assignment].digest
            earlier = batch.store.earlier(job, digest, batch.under)
        except (GraderError, UsageProblem):
            # It will be told as a failure when it is written.
            earlier = Earlier(state="none")
        if earlier.staff is not None:
            sifted.kept[job] = tables.row(earlier.staff)
            sifted.levels.add(earlier.staff["run"]["sandbox"]["level"])
            continue
        if earlier.state == "damaged":
            sifted.damaged.append(job)
        sifted.todo.append(job)
    return sifted


def _shared(todo: Sequence[Job]) -> dict[Job, list[Job]]:
    """The jobs by the one that is graded for all of them: a group hands in one file together."""
    first: dict[tuple[str, Locator], Job] = {}
    shared: dict[Job, list[Job]] = {}
    for job in todo:
        shared.setdefault(first.setdefault((job.assignment, job.locator), job), []).append(job)
    return shared


def _allowed(result: Result, under: Conditions) -> str | None:
    """The level at which the submission was run; None where nothing was run."""
    sandbox = result.views.staff["run"]["sandbox"]
    level: str | None = sandbox["level"]
    if level is not None and under.demanded == FULL and level != FULL:
        raise Reduced(level, sandbox["layers"])
    return level


def _written(job: Job, result: Result, batch: Batch) -> Row:
    seed = batch.under.seed
    staff, student = (named(each, job, seed) for each in (result.views.staff, result.views.student))
    if tables.suite_erred(staff):
        # The course's own mistake: nobody may take it for a grade.
        staff["official"] = student["official"] = False
    batch.store.write(job, staff, student)
    return tables.row(staff)


def _counting(rows: Mapping[Job, Row], kept: Sequence[Row]) -> list[Row]:
    return [*(row for job, row in rows.items() if job.counts), *kept]


def _ended(run: Mapping[str, Any], levels: Collection[str | None]) -> dict[str, Any]:
    """The record of a run that is through, with the weakest level that any of it was run at."""
    weakest = min((each for each in levels if each is not None), key=_strength, default=None)
    return {
        **run,
        "sandbox": {**run["sandbox"], "level": weakest},
        "finished_at": run_record.now(),
    }


def _strength(level: str) -> bool:
    return level == FULL


def _log(store: Store, failed: Sequence[tuple[Job, str]]) -> None:
    """What went wrong on our side, for whoever looks into it; no file when nothing did."""
    path = store.folder / FAILURES
    if not failed:
        path.unlink(missing_ok=True)
        return
    text = "\n".join(
        f"== {job.student} {job.assignment} attempt {job.attempt}\n{clean(failure, _LOGGED)}\n"
        for job, failure in failed
    )
    store.put(path, text.encode("utf-8", "backslashreplace"))
