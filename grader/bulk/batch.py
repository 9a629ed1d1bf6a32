"""A batch from its plan to the finished folder, whatever the engine."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from grader.assignment import Assignment
from grader.bulk import run_record, tables
from grader.bulk.archives import Shelf
from grader.bulk.engine import Lost, Result
from grader.bulk.plan import Job, Plan
from grader.bulk.run_record import Conditions, Shard
from grader.bulk.store import FAILURES, Store, named
from grader.bulk.tables import Row

FULL = "full"


class Reduced(Exception):
    """This machine cannot lock submissions in as official grading demands."""

    def __init__(self, level: str, layers: Sequence[str]) -> None:
        super().__init__(level)
        self.level = level
        self.layers = tuple(layers)


class Engine(Protocol):
    """Grades jobs somewhere; results come in any order."""

    def run(self, planned: Iterable[Job]) -> Iterator[tuple[Job, Result | Lost]]: ...


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


def carry_out(batch: Batch, engine: Engine, tell: Callable[[Progress], None]) -> Finished:
    """Grade what an earlier run has not, and write everything as it comes.

    Raises:
        Reduced: the sandbox level is not the demanded one; nothing of it was written.
        NoRoom: the disk is full; a second run continues.
    """
    run = run_record.record(
        batch.plan, batch.whole, [*batch.assignments.values()], batch.under, batch.shard
    )
    batch.store.put_run(run)
    kept, todo, damaged = _sifted(batch)
    progress = Progress(planned=len(batch.plan.jobs), reused=len(kept), graded=0)
    tell(progress)
    rows: dict[Job, Row] = dict(kept)
    failed: list[tuple[Job, str]] = []
    level: str | None = None
    for job, result in engine.run(todo) if todo else ():
        if isinstance(result, Result):
            level = _allowed(result, batch.under) or level
            rows[job] = _written(job, result, batch)
        if result.failure is not None or isinstance(result, Lost):
            failed.append((job, result.failure or ""))
        progress = replace(progress, graded=progress.graded + 1)
        tell(progress)
    finish(batch.store, _ended(run, level, batch), [rows[job] for job in rows if job.counts])
    _log(batch.store, failed)
    return Finished(
        graded=progress.graded,
        reused=len(kept),
        damaged=tuple(damaged),
        failed=tuple(sorted(failed, key=lambda each: (each[0].assignment, each[0].student))),
        rows=tuple(rows.values()),
    )


def finish(store: Store, run: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write the tables, then `run.json`, which says that they are complete."""
    store.put(store.folder / "scores.csv", tables.scores_csv(run, rows))
    store.put(store.folder / "summary.json", tables.summary(run, rows))
    store.put_run(run)


def loader(shelf: Shelf, locators: Mapping[Job, Job]) -> Callable[[Job], bytes]:
    """Reads a job's bytes; refuses those that are not the planned ones any more.

    Args:
        locators: under pseudonyms, the job that knows where the file is.
    """

    def load(job: Job) -> bytes:
        content = shelf.read(locators.get(job, job).locator)
        if hashlib.sha256(content).hexdigest() != job.sha256:
            raise OSError("the file has changed since this run began")
        return content

    return load


def _sifted(batch: Batch) -> tuple[dict[Job, Row], list[Job], list[Job]]:
    """What still holds, what has to be graded, and of that: what was damaged."""
    kept: dict[Job, Row] = {}
    todo: list[Job] = []
    damaged: list[Job] = []
    for job in batch.plan.jobs:
        if batch.fresh:
            todo.append(job)
            continue
        earlier = batch.store.earlier(job, batch.assignments[job.assignment].digest, batch.under)
        if earlier.staff is not None:
            kept[job] = tables.row(earlier.staff)
            continue
        if earlier.state == "damaged":
            damaged.append(job)
        todo.append(job)
    return kept, todo, damaged


def _allowed(result: Result, under: Conditions) -> str | None:
    """The level at which the submission was run; None where nothing was run."""
    sandbox = result.views.staff["run"]["sandbox"]
    level: str | None = sandbox["level"]
    if level is not None and under.demanded == FULL and level != FULL:
        raise Reduced(level, sandbox["layers"])
    return level


def _written(job: Job, result: Result, batch: Batch) -> Row:
    seed = batch.under.seed
    staff = named(result.views.staff, job, seed)
    batch.store.write(job, staff, named(result.views.student, job, seed))
    return tables.row(staff)


def _ended(run: Mapping[str, Any], level: str | None, batch: Batch) -> dict[str, Any]:
    seen = level
    if seen is None and batch.plan.jobs:
        # Everything was graded earlier, at the level that was demanded then and is now.
        seen = FULL if batch.under.demanded == FULL else None
    sandbox = {**run["sandbox"], "level": seen}
    return {**run, "sandbox": sandbox, "finished_at": run_record.now()}


def _log(store: Store, failed: Sequence[tuple[Job, str]]) -> None:
    """What went wrong on our side, for whoever looks into it; no file when nothing did."""
    path = store.folder / FAILURES
    if not failed:
        path.unlink(missing_ok=True)
        return
    text = "\n".join(
        f"== {job.student} {job.assignment} attempt {job.attempt}\n{failure}\n"
        for job, failure in failed
    )
    store.put(path, text.encode("utf-8", "backslashreplace"))
