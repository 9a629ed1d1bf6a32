"""Workers without fork (Windows, macOS, and everywhere with `--sandbox portable`).

Theory of operation. Each worker is a process of its own, started by exec with pipes: requests on
its stdin, answers on its stdout, what it prints on its stderr. It moves both ends of the channel
to private descriptors before anything of the submission is read. Here threads read the pipes
(Windows cannot poll them), psutil watches memory and the number of processes, and the judge, as
the parent, says how the worker died. The first worker starts with the bench, so that torch loads
in it and in the judge at once; one that is never used is ended with the bench. Whatever a worker
has started is ended with it, see `family` and, for Windows, `job_object`.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from grader.errors import GraderError
from grader.model import DeathCause, Limits
from grader.sandbox import family, tasks
from grader.sandbox.link import Death, Output
from grader.sandbox.spawned import END_S, JOIN_S, Spawned

LAYERS = ("process", "watcher")
WATCH_S = 0.05
# Windows reports a crash as an NTSTATUS error code.
NTSTATUS_ERROR = 0xC0000000


class PortableBench:
    """Starts single-use workers, the first one at once.

    Args:
        folder: private; each worker gets a folder below it.
        lifeline: the descriptor of the judge's orders (POSIX: its hang-up ends everything).
        on_abandoned: what to do then; must not return.
        alone: this process exists for the bench, so that orphans below it are a worker's.
    """

    level = "reduced"
    layers: tuple[str, ...] = LAYERS

    def __init__(
        self,
        folder: Path,
        lifeline: int,
        on_abandoned: Callable[[], None],
        *,
        alone: bool = False,
    ) -> None:
        self.folder = folder
        self.adopts = alone and family.adopt_orphans()
        self.not_ours = {each.pid for each in psutil.Process().children()}
        self.alive: set[Spawned] = set()
        self.abandoned = False
        self.spawning = threading.Lock()
        self.waiting: Spawned | None = self._spawn()
        self.on_abandoned = on_abandoned
        self.watcher: threading.Thread | None = None
        self.closing = (-1, -1)
        if sys.platform != "win32":
            self.closing = os.pipe()
            self.watcher = threading.Thread(
                target=self._watch_lifeline, args=(lifeline,), daemon=True
            )
            tasks.started(self.watcher.start)

    def start(self, limits: Limits, output: Output) -> "PortableLink":
        process = self.waiting or self._spawn()
        self.waiting = None
        process.give_limits(limits)
        return PortableLink(self, process, limits, output)

    def close(self) -> None:
        self._stop_watching()
        self.waiting = None
        for process in tuple(self.alive):
            self.end(process)
            process.close_pipes()

    def _stop_watching(self) -> None:
        """The lifeline's number may mean another file soon, so nobody waits on it any longer."""
        watcher, self.watcher = self.watcher, None
        if watcher is None or watcher is threading.current_thread():
            return
        reader, writer = self.closing
        os.close(writer)
        watcher.join()
        os.close(reader)

    def end(self, process: Spawned) -> int:
        """The exit code of a worker that is dead now, with what it started."""
        code = process.end()
        self.alive.discard(process)
        return code

    def _spawn(self) -> Spawned:
        with self.spawning:
            if not self.abandoned:
                # Not numbered: how many there were must not show in what a submission prints.
                home = Path(tempfile.mkdtemp(prefix="torchgrade-", dir=self.folder))
                process = Spawned(home, self._not_orphans if self.adopts else None)
                self.alive.add(process)
                self.layers = LAYERS if process.job is None else (*LAYERS, "job_object")
                return process
        # The session takes the end of its worker for a death and wants another one, while the
        # watcher clears everything away. This thread ends with the process, which is very soon.
        threading.Event().wait(END_S)
        raise GraderError("nobody waits for grades any more")

    def _not_orphans(self) -> set[int]:
        return self.not_ours | {each.popen.pid for each in tuple(self.alive)}

    def _watch_lifeline(self, lifeline: int) -> None:
        if sys.platform == "win32":
            return
        import select

        poller = select.poll()
        poller.register(lifeline, 0)
        poller.register(self.closing[0], 0)
        if lifeline in dict(poller.poll()):
            with self.spawning:
                self.abandoned = True
            self.close()
            self.on_abandoned()


class PortableLink:
    """One single-use worker behind pipes."""

    def __init__(
        self, bench: PortableBench, process: Spawned, limits: Limits, output: Output
    ) -> None:
        self.bench = bench
        self.process = process
        self.limits = limits
        self.output = output
        self.unread = bytearray()
        self.closed = False
        self.dead = False
        self.idle_rss: int | None = None
        self.excess: tuple[DeathCause, str] | None = None
        self.last_cpu_s = 0.0
        self.peak = 0
        self.death: Death | None = None
        self.watch_due = time.monotonic()

    def send(self, data: memoryview, timeout_s: float) -> int | None:  # noqa: ARG002 - see Link
        self.process.requests.put(bytes(data))
        return len(data)

    def receive(self, limit: int, timeout_s: float) -> bytes | None:
        self.drain()
        if not self.unread and not self.closed:
            self._take(timeout_s)
        if self.unread:
            data = bytes(self.unread[:limit])
            del self.unread[:limit]
            return data
        return b"" if self.closed else None

    def _take(self, timeout_s: float) -> None:
        data = self.process.answers.get(timeout_s)
        if data is None:
            self._watch()
            self._notice_death(timeout_s)
            return
        if self.idle_rss is None:
            # The first answer is that to the greeting: torch is loaded, and nothing else is yet.
            self.idle_rss = _rss(self.process.outside)
            self.process.limit_job(self.limits)
        self.unread += data
        self.closed = data == b""
        self.dead = False

    def _notice_death(self, waited_s: float) -> None:
        """A dead worker says no more, even if what it has started holds its channel open."""
        if waited_s > 0 and self.process.popen.poll() is not None:
            # What it wrote last is in the pipe, and from there in the queue before the next look.
            self.closed, self.dead = self.dead, True

    def _watch(self) -> None:
        """Memory and processes, at most twenty times a second, once the worker is ready."""
        if self.idle_rss is None or time.monotonic() < self.watch_due:
            return
        self.watch_due = time.monotonic() + WATCH_S
        members = self.process.family.members()
        resident = [_rss(each) for each in members]
        # The library's pages are shared by all, so each process is measured above an idle one.
        self.peak = max(self.peak, sum(max(0, each - self.idle_rss) for each in resident))
        if len(members) > self.limits.processes:
            self.excess = ("signal", "processes")
        elif sum(map(_threads, members)) > tasks.share() + tasks.SLACK:
            self.excess = ("signal", "threads")
        elif self.peak > self.limits.memory_mib << 20:
            self.excess = ("memory", "")
        if self.excess is not None:
            self.last_cpu_s = self.cpu_s()
            family.kill(members)

    def cpu_s(self) -> float:
        self.last_cpu_s = max(self.last_cpu_s, self.process.cpu_s())
        return self.last_cpu_s

    def drain(self) -> None:
        self.process.prints.take(self.output.add)

    def _drain_to_the_end(self) -> None:
        """What a dead worker printed, all of it, so that equal runs give equal reports."""
        deadline = time.monotonic() + JOIN_S
        reader = self.process.prints.reader
        # It may wait for room in the queue, so it is joined and drained in turn.
        while reader.is_alive() and time.monotonic() < deadline:
            self.drain()
            reader.join(0.01)
        self.drain()
        self.process.close_pipes()

    def end(self, cause: DeathCause | None) -> Death:
        if self.death is None:
            cpu_s = self.cpu_s()
            by_itself = _exit_code(self.process.popen, grace_s=0.2 if self.closed else 0.0)
            code = self.bench.end(self.process)
            self._drain_to_the_end()
            told = self.excess or (_own_death(code) if by_itself is not None else (cause, ""))
            self.death = Death(
                cause=told[0], detail=told[1], cpu_s=cpu_s, peak_mib=max(0, self.peak) >> 20
            )
        return self.death


def _exit_code(popen: "subprocess.Popen[bytes]", *, grace_s: float) -> int | None:
    """The exit code of a process that ended by itself; its pipe may close a little before."""
    try:
        return popen.wait(grace_s) if grace_s else popen.poll()
    except subprocess.TimeoutExpired:
        return None


def _own_death(code: int) -> tuple[DeathCause, str]:
    if code < 0:
        return ("timeout", "") if -code == _sigxcpu() else ("signal", _signal_name(-code))
    if code >= NTSTATUS_ERROR:
        return "signal", f"0x{code:08X}"
    return "exit", str(code)


def _sigxcpu() -> int:
    return int(getattr(signal, "SIGXCPU", -1))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _threads(process: psutil.Process) -> int:
    try:
        return int(process.num_threads())
    except psutil.Error:
        return 0


def _rss(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
