"""On a worker of a cluster: its judge, and the function that grades a chunk there.

Theory of operation. The client registers a `JudgePlugin`, which Dask sets up in every worker
process, also in those that come later. There it compares this machine with the client's, and keeps
a judge, started by exec, which starts its zygote: one pair per worker. Dask runs `grade_chunk` in
the worker's only thread; it hands one submission after the other to the judge and returns their
reports. Student code never runs in a worker's process of Dask, which is trusted and can reach the
scheduler, but below the judge, as everywhere.

Judge and zygote end on the end of their control channel, so with the worker, however that ends
(a death signal by the kernel would come with the end of the *thread* that started them). They end,
too, when the plugin is taken away, and after a while without a chunk: nobody takes away the plugin
of a client that was killed. For the same reason no judge is started before it is asked for.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from distributed import Reschedule, Worker, WorkerPlugin, get_worker

from grader import assignment
from grader.assignment import Assignment
from grader.bulk import engine
from grader.bulk.cluster_terms import (
    Fitness,
    Graded,
    Terms,
    differences,
    may_grade,
    own_identity,
)
from grader.bulk.engine import Lost, Refused, Result, Task
from grader.errors import AssignmentError, UsageProblem
from grader.grading import Judge
from grader.model import OpenedFile, Reading, Submission
from grader.reader.client import Reader, unread

# Longer than a chunk of another client on the same worker; a pair that is gone is started anew.
IDLE_S = 60.0


class JudgePlugin(WorkerPlugin):
    """Keeps a judge beside a worker."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.post: Post | None = None

    def setup(self, worker: Worker) -> None:
        if self.terms.ours:
            # Ctrl-C reaches every process of the terminal; the client ends its own workers. By a
            # handler, because what is ignored or blocked here would be for judge and submissions.
            signal.signal(signal.SIGINT, lambda *_: None)
        self.post = Post.opened(self.terms, named(worker), worker.state.nthreads)

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002 - Dask passes it
        if self.post is not None:
            # Waits for processes; the worker's loop must go on meanwhile.
            await asyncio.to_thread(self.post.close)


@dataclass(slots=True, kw_only=True)
class Post:
    """A worker's judge and what it may grade."""

    terms: Terms
    fitness: Fitness
    assignments: Mapping[str, Assignment]
    judge: Judge
    reader: Reader = field(default_factory=Reader)
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _alarm: threading.Timer | None = None

    @classmethod
    def opened(cls, terms: Terms, worker: str, nthreads: int) -> "Post":
        """Compared with the client. Nothing is started yet."""
        fitness, known = Fitness(worker=worker), {}
        try:
            known = known_here(terms)
            found = differences(terms.identity, own_identity(known), nthreads=nthreads)
            fitness = Fitness(worker=worker, differences=found)
        except (AssignmentError, UsageProblem, OSError) as error:
            fitness = Fitness(worker=worker, problem=str(error))
        judge = Judge(settings=terms.settings)
        return cls(terms=terms, fitness=fitness, assignments=known, judge=judge)

    def fit(self) -> bool:
        """Whether nothing is known that keeps it from grading."""
        return not self.fitness.differences and not self.fitness.problem

    def tried(self) -> Fitness:
        """The fitness with the sandbox level, which shows when something harmless is graded."""
        with self.lock:
            self._listen()
            if self.fit() and self.fitness.level is None:
                self.fitness = _tried(self)
                self._watch()
            if self.stopped.is_set():
                self.judge.close()
        return self.fitness

    def graded(self, tasks: Sequence[Task]) -> Graded:
        began = time.monotonic()
        with self.lock:
            self._rest()
            self._listen()
            results = tuple(self._each(task) for task in tasks if not self.stopped.is_set())
            if self.stopped.is_set():
                # What was being graded may have started the judge again. The worker is closing,
                # so that another one has to do all of it, or nobody waits any more.
                self.judge.close()
                raise Reschedule
            self._watch()
        return Graded(results=results, seconds=time.monotonic() - began)

    def _each(self, task: Task) -> Result | Lost | Refused:
        assignment = self.assignments[task.assignment]
        first: str | None = None
        while True:
            try:
                return engine.grade_one(
                    self.read(task), assignment, self.judge, stopped=self.stopped.is_set
                )
            except Exception as error:  # noqa: BLE001 - one submission must not stop the rest
                self.judge.close()
                # It may have met a shortage that has passed by now.
                if first is not None or self.stopped.is_set():
                    return Lost(failure=repr(error))
                first = repr(error)

    def read(self, task: Task) -> Reading:
        if task.unread is not None:
            return unread(task.opened.submission, task.unread)
        return self.reader.understand(task.opened, engine.entry_points(self.assignments))

    def close(self) -> None:
        """End reader and judge, whatever they are doing. Idempotent."""
        self.stopped.set()
        self._rest()
        self.reader.close()
        self.judge.close()

    def _listen(self) -> None:
        """Let the judge that this thread may start have Ctrl-C as every other program."""
        if self.terms.ours and sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    # --- unused ---------------------------------------------------------------------------

    def _watch(self) -> None:
        self._rest()
        if self.stopped.is_set():
            return
        self._alarm = threading.Timer(IDLE_S, self._unused)
        self._alarm.daemon = True
        self._alarm.start()

    def _rest(self) -> None:
        alarm, self._alarm = self._alarm, None
        if alarm is not None:
            alarm.cancel()

    def _unused(self) -> None:
        if self.lock.acquire(blocking=False):
            try:
                # The next submission starts them again.
                self.reader.close()
                self.judge.close()
            finally:
                self.lock.release()


# --- what the client calls -----------------------------------------------------------------


def compared(terms: Terms, dask_worker: Worker) -> Fitness:
    """How this worker differs from the client; nothing is started."""
    there = own_identity(known_here(terms))
    found = differences(terms.identity, there, nthreads=dask_worker.state.nthreads)
    return Fitness(worker=named(dask_worker), differences=found)


async def tried(name: str, dask_worker: Worker) -> Fitness:
    """Whether this worker's judge works, and at which sandbox level."""
    return await asyncio.to_thread(_post(name, dask_worker).tried)


def grade_chunk(name: str, tasks: Sequence[Task]) -> Graded | Fitness:
    """The reports on the tasks; the fitness instead, where this worker may not grade.

    A worker that came after the client had looked at all of them is looked at here.
    """
    post = _post(name, get_worker())
    fitness = post.tried()
    return post.graded(tasks) if may_grade(fitness, post.terms) else fitness


# --- below ---------------------------------------------------------------------------------


def named(worker: Worker) -> str:
    """The worker's address and, where somebody chose one, its name."""
    name = str(worker.name)
    return worker.address if name in ("", worker.address) else f"{name} ({worker.address})"


def known_here(terms: Terms) -> dict[str, Assignment]:
    """This machine's assignments as far as the client has them, too."""
    folder = Path(terms.folder) if terms.folder and Path(terms.folder).is_dir() else None
    found = {each.id: each for each in assignment.find_all(folder, os.environ)}
    # In the client's order and no more: which functions are known decides how a file is read.
    return {id_: found[id_] for id_ in terms.identity.digests if id_ in found}


def _post(name: str, worker: Worker) -> Post:
    plugin = worker.plugins.get(name)
    if not isinstance(plugin, JudgePlugin) or plugin.post is None:
        raise LookupError(f"{named(worker)} was not set up")
    return plugin.post


def _tried(post: Post) -> Fitness:
    """What comes out for a submission of ours that does nothing."""
    worker, problem = post.fitness.worker, "-"
    for id_ in post.terms.planned:
        try:
            one = post.assignments[id_]
            result = engine.grade_one(post.read(_harmless(one)), one, post.judge)
        except Exception as error:  # noqa: BLE001 - whatever it is, this worker cannot grade
            post.judge.close()
            return Fitness(worker=worker, problem=repr(error))
        if isinstance(result, Refused):
            return Fitness(worker=worker, level=result.level, layers=result.layers)
        sandbox = result.views.staff["run"]["sandbox"]
        if sandbox["level"] is not None:
            layers = tuple(sandbox["layers"])
            return Fitness(worker=worker, level=sandbox["level"], layers=layers)
        problem = (result.failure or f"{id_}: no test was run").strip()
    return Fitness(worker=worker, problem=problem.splitlines()[-1].strip())


def _harmless(one: Assignment) -> Task:
    functions = [f"def {entry.name}(*_, **__):\n    return 0\n" for entry in one.entry_points]
    content = "\n".join(functions).encode("utf-8")
    return Task(
        assignment=one.id,
        opened=OpenedFile(
            submission=Submission(
                file="submission.py", kind="module", sha256=sha256(content).hexdigest()
            ),
            content=content,
        ),
    )
