"""Grading on a Dask cluster: another engine for the same plan, judge and store.

Theory of operation. The client is the front desk: it reads the files, forms chunks, and hands the
results to the caller as chunks come back, who writes them; so a client that is killed has lost no
more than what was under way. Workers are processes of Dask, ours on this machine or somebody's on
many; what runs in them is `cluster_worker`. Nothing is graded before every worker was compared with
the client and its judge was tried.

A scheduler's plain port asks nobody who they are: whoever reaches it runs code on every worker.
Submissions that are locked in completely do not reach it. Where they are not, it has to be guarded
by TLS, our own on this machine as well.

Deaths. Dask gives the chunks of a dead worker to others, and gives a chunk up when too many workers
died that had it, whether they had begun with it or not. So each submission of such a chunk is tried
again at the end, with nothing else under way. One that takes its workers down even then is lost: it
gets no report, because nobody knows what it is worth.
"""

import asyncio
import contextlib
import queue
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from grader.assignment import Assignment
from grader.bulk import cluster_client, cluster_local, cluster_terms, cluster_worker
from grader.bulk.cluster_client import Workers
from grader.bulk.cluster_terms import ClusterFailed, Graded, Terms
from grader.bulk.engine import Lost, Refused, Result, Task
from grader.bulk.plan import Job
from grader.bulk.run_record import Conditions
from grader.grading import Settings

# A chunk costs a round trip, a death costs a chunk.
FIRST_CHUNK = 2
MOST_IN_CHUNK = 32
CHUNK_S = 4.0
CHUNK_BYTES = 4 << 20
# One is graded, one waits beside it.
CHUNKS_PER_WORKER = 2
_POLL_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dask:
    """How to grade on a cluster.

    Args:
        load: what a job is sent as; raises OSError where its file is not the planned one.
        jobs: how many workers to start here, without a scheduler.
        scheduler: the address of a running one, None for a cluster on this machine.
        folder: where the assignments were found, when that was said.
        debug: show what Dask logs.
    """

    settings: Settings
    assignments: Mapping[str, Assignment]
    under: Conditions
    load: Callable[[Job], Task]
    jobs: int
    scheduler: str | None = None
    folder: Path | None = None
    debug: bool = False

    def run(
        self, planned: Sequence[Job]
    ) -> Generator[tuple[Job, Result | Lost | Refused], None, None]:
        """Each job with its result, as they come. Closing the generator ends what it started.

        Raises:
            ClusterFailed: there is no cluster, it does not fit, or it is gone.
        """
        if not planned:
            return
        with contextlib.ExitStack() as stack:
            stack.enter_context(cluster_client.quiet(debug=self.debug))
            address = self.scheduler
            if address is None:
                workers = min(self.jobs, len(planned))
                own = cluster_local.own_cluster(workers, debug=self.debug)
                address = stack.enter_context(own)
            client = stack.enter_context(cluster_client.connected(address))
            terms = self._terms(planned, guarded=cluster_client.is_guarded(address))
            plugin = stack.enter_context(cluster_client.prepared(client, terms, address))
            stream = _Stream(client=client, plugin=plugin, terms=terms, address=address)
            yield from stream.results(planned, self.load)

    def _terms(self, planned: Sequence[Job], *, guarded: bool) -> Terms:
        return Terms(
            settings=self.settings,
            identity=cluster_terms.identity(self.assignments, self.under),
            planned=tuple(dict.fromkeys(job.assignment for job in planned)),
            folder=str(self.folder.resolve()) if self.folder else None,
            ours=self.scheduler is None,
            guarded=guarded,
            demanded=self.under.demanded,
        )


def chunk_size(each_s: float | None, left: int, workers: int) -> int:
    """How many submissions the next chunk holds.

    Args:
        each_s: what one has taken lately, in seconds; None before that is known.
        left: how many are not under way yet.
    """
    if each_s is None:
        return FIRST_CHUNK
    fitting = int(CHUNK_S / max(each_s, 0.001))
    # Towards the end nobody should wait for somebody else's long chunk.
    fair = -(-left // (CHUNKS_PER_WORKER * max(workers, 1)))
    return max(1, min(fitting, MOST_IN_CHUNK, fair))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """What one worker grades in one go; the workers see the tasks only.

    Args:
        suspect: workers died that had it; it is one submission, and nothing else is under way.
    """

    jobs: tuple[Job, ...]
    tasks: tuple[Task, ...]
    suspect: bool = False

    def split(self) -> list["Chunk"]:
        pairs = zip(self.jobs, self.tasks, strict=True)
        return [Chunk(jobs=(job,), tasks=(task,), suspect=True) for job, task in pairs]


class _Stream:
    """The chunks that are under way."""

    def __init__(self, *, client: Client, plugin: str, terms: Terms, address: str) -> None:
        self.client = client
        self.plugin = plugin
        self.terms = terms
        self.address = address
        self.todo: deque[Job] = deque()
        self.suspects: deque[Chunk] = deque()
        self.sent: dict[Future[Any], Chunk] = {}
        self.back: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self.each_s: float | None = None
        self.workers = Workers(client, address)

    def results(
        self, planned: Sequence[Job], load: Callable[[Job], Task]
    ) -> Iterator[tuple[Job, Result | Lost | Refused]]:
        self.todo.extend(planned)
        try:
            while self.todo or self.suspects or self.sent:
                yield from self._send_off(load)
                if self.sent:
                    yield from self._come_back()
        finally:
            if self.client.status == "running":
                with contextlib.suppress(Exception):
                    self.client.cancel(list(self.sent), force=True)

    def _send_off(self, load: Callable[[Job], Task]) -> Iterator[tuple[Job, Lost]]:
        """Keep every worker busy; what cannot be read is lost at once."""
        most = CHUNKS_PER_WORKER * max(1, self.workers.number)
        while len(self.sent) < most and self.todo:
            chunk, lost = self._next(load)
            yield from lost
            if chunk.tasks:
                self._send(chunk)
        if self.suspects and not self.sent:
            self._send(self.suspects.popleft())

    def _next(self, load: Callable[[Job], Task]) -> tuple[Chunk, list[tuple[Job, Lost]]]:
        size = chunk_size(self.each_s, len(self.todo), self.workers.number)
        tasks: dict[Job, Task] = {}
        lost: list[tuple[Job, Lost]] = []
        held = 0
        while self.todo and len(tasks) < size and held < CHUNK_BYTES:
            if tasks and next(iter(tasks)).assignment != self.todo[0].assignment:
                break  # a judge changes its suite between chunks, not within
            job = self.todo.popleft()
            try:
                tasks[job] = load(job)
            except OSError as error:
                lost.append((job, Lost(failure=f"cannot be read: {error.strerror or error}")))
                continue
            held += len(tasks[job].opened.content)
        return Chunk(jobs=tuple(tasks), tasks=tuple(tasks.values())), lost

    def _send(self, chunk: Chunk) -> None:
        try:
            future = self.client.submit(
                cluster_worker.grade_chunk,
                self.plugin,
                chunk.tasks,
                # A key of chance: whoever looks at the scheduler learns nothing from it.
                key=f"grade-{secrets.token_hex(16)}",
                pure=False,
            )
        except Exception as error:
            raise self._lost(error) from error
        self.sent[future] = chunk
        future.add_done_callback(self.back.put)

    def _come_back(self) -> Iterator[tuple[Job, Result | Lost | Refused]]:
        self.workers.look()
        try:
            future = self.back.get(timeout=_POLL_S)
        except queue.Empty:
            return
        chunk = self.sent[future]
        found = self._found(future)
        if found is None:
            self.back.put(future)
            return
        del self.sent[future]
        if isinstance(found, Graded):
            now = found.seconds / len(chunk.jobs)
            self.each_s = now if self.each_s is None else (self.each_s + now) / 2
            yield from zip(chunk.jobs, found.results, strict=True)
        elif chunk.suspect:
            yield chunk.jobs[0], found
        else:
            self.suspects.extend(chunk.split())

    def _found(self, future: Future[Any]) -> Graded | Lost | None:
        """What a chunk gave: `Lost` when its workers died, None when it is to be asked later."""
        try:
            found = future.result(timeout=_POLL_S)
        except KilledWorker as error:
            return Lost(failure=f"the workers that graded it died, one after another: {error}")
        except TimeoutError:
            # Its worker died when it was done: another one grades it again.
            return None
        # Cancelled, which Python does not count among exceptions: the scheduler was lost.
        except (Exception, asyncio.CancelledError) as error:
            raise self._lost(error) from error
        if not isinstance(found, Graded):
            cluster_terms.refuse_unfit(found, self.terms, address=self.address)
            raise ClusterFailed("lost", address=self.address, reason=repr(found))
        return found

    def _lost(self, error: BaseException) -> ClusterFailed:
        return ClusterFailed("lost", address=self.address, reason=cluster_terms.reason(error))
