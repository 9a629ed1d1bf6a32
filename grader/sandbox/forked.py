"""Workers that are forked from a warm zygote (Linux); the judge's side of `zygote`."""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from grader.errors import GraderError
from grader.model import DeathCause, Limits
from grader.sandbox import launch, tasks
from grader.sandbox.link import Death, Output

START_S = 120.0
DEATH_S = 20.0
# Shorter than the front desk's patience with the judge: a zygote that student code has stopped
# must be killed by its parent, or nobody does.
CLOSE_S = 5.0
# <time.h>, CLOCK of another process: (~pid << 3) | CPUCLOCK_SCHED, as clock_getcpuclockid does.
_CPUCLOCK_SCHED = 2


class ForkedBench:
    """A zygote of one's own. It starts at once; the first worker waits until it is ready.

    Args:
        folder: an empty private folder; the zygote runs in it.
        lifeline: a descriptor whose hang-up means that whoever asked for grades is gone.
        on_abandoned: what to do then; must not return.
        without: layers of the lock-down to leave out; only tests do.
        preload: packages that the course names: imported once, for all workers.
    """

    # Until the zygote has said what it could install.
    level = "reduced"
    layers: tuple[str, ...] = ()

    def __init__(
        self,
        folder: Path,
        lifeline: int,
        on_abandoned: Callable[[], None],
        *,
        without: tuple[str, ...] = (),
        preload: tuple[str, ...] = (),
    ) -> None:
        self.lifeline = lifeline
        self.on_abandoned = on_abandoned
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.setblocking(False)
        program = (
            "from grader.sandbox.zygote import main; "
            f"main({theirs.fileno()}, {str(folder)!r}, {without!r}, {preload!r})"
        )
        self.process: subprocess.Popen[bytes] = tasks.started(
            lambda: subprocess.Popen(
                launch.command(program),
                cwd=folder,
                env=launch.environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        )
        theirs.close()
        self.ready = False

    def start(self, limits: Limits, output: Output) -> "ForkedLink":
        if not self.ready:
            self.await_ready()
        channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        pipe, their_pipe = os.pipe()
        try:
            message = {"do": "spawn", **asdict(limits)}
            descriptors = [theirs.fileno(), their_pipe]
            socket.send_fds(self.control, [json.dumps(message).encode()], descriptors)
            started = self.expect("started", START_S)
        except (OSError, GraderError) as error:
            channel.close()
            os.close(pipe)
            raise GraderError(f"the zygote gave no worker: {error}") from error
        finally:
            theirs.close()
            os.close(their_pipe)
        return ForkedLink(self, int(str(started["pid"])), channel, pipe, output)

    def await_ready(self) -> None:
        """Learn from the zygote which layers are in force.

        Raises:
            GraderError: when one that the kernel has could not be installed.
        """
        told = self.expect("ready", START_S)
        layers = told["layers"]
        self.level = str(told["level"])
        self.layers = tuple(map(str, layers)) if isinstance(layers, list) else ()
        self.ready = True

    def expect(self, now: str, timeout_s: float) -> dict[str, object]:
        """The zygote's next message, which must be a `now`.

        Raises:
            GraderError: when it is another one, or none comes.
        """
        deadline = time.monotonic() + timeout_s
        poller = select.poll()
        poller.register(self.control, select.POLLIN)
        poller.register(self.lifeline, 0)
        while (left := deadline - time.monotonic()) > 0:
            ready = dict(poller.poll(left * 1000))
            if self.lifeline in ready:
                self.abandon()
            if self.control.fileno() in ready:
                data = self._received()
                message = json.loads(data) if data else {}
                if message.get("now") != now:
                    raise GraderError(f"the zygote said {message or 'nothing'} instead of {now}")
                return dict(message)
        raise GraderError(f"the zygote did not say {now} within {timeout_s:.0f} s")

    def _received(self) -> bytes:
        try:
            return self.control.recv(4096)
        except OSError:
            # It was killed, perhaps by what it forked.
            return b""

    def abandon(self) -> None:
        """Nobody waits for grades any more: end every process first, then whoever owns this."""
        self.close()
        self.on_abandoned()

    def close(self) -> None:
        self.control.close()
        try:
            self.process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class ForkedLink:
    """One worker of a zygote: a socket, an output pipe, and the zygote's word on its death."""

    def __init__(
        self, bench: ForkedBench, pid: int, channel: socket.socket, output_fd: int, output: Output
    ) -> None:
        self.bench = bench
        self.pid = pid
        self.channel = channel
        self.channel.setblocking(False)
        os.set_blocking(output_fd, False)
        self.output_fd = output_fd
        self.output = output
        self.death: Death | None = None
        self.poller = select.poll()
        self.poller.register(output_fd, select.POLLIN)
        self.poller.register(bench.lifeline, 0)

    def send(self, data: memoryview, timeout_s: float) -> int | None:
        try:
            return self.channel.send(data)
        except BlockingIOError:
            self._wait(select.POLLOUT, timeout_s)
            return 0
        except OSError:
            return None

    def receive(self, limit: int, timeout_s: float) -> bytes | None:
        for wait_s in (timeout_s, 0.0):
            try:
                return self.channel.recv(limit)
            except BlockingIOError:
                if not wait_s or not self._wait(select.POLLIN, wait_s):
                    return None
            except OSError:
                return b""
        return None

    def _wait(self, event: int, timeout_s: float) -> bool:
        """True when the channel is ready; output is drained meanwhile, so that it never blocks."""
        deadline = time.monotonic() + timeout_s
        self.poller.register(self.channel, event)
        while True:
            ready = dict(self.poller.poll(max(0.0, (deadline - time.monotonic()) * 1000)))
            if self.bench.lifeline in ready:
                self.bench.abandon()
            if self.output_fd in ready:
                self._drain()
            if self.channel.fileno() in ready:
                return True
            if time.monotonic() >= deadline:
                return False

    def _drain(self, most: int = 1 << 20) -> None:
        while most > 0:
            try:
                data = os.read(self.output_fd, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                # The worker closed it: poll would report the hang-up for ever.
                with contextlib.suppress(KeyError):
                    self.poller.unregister(self.output_fd)
                return
            self.output.add(data)
            most -= len(data)

    def cpu_s(self) -> float:
        try:
            return time.clock_gettime((~self.pid << 3) | _CPUCLOCK_SCHED)
        except OSError:
            # It is dead; the zygote's account follows.
            return 0.0

    def drain(self) -> None:
        self._drain()

    def end(self, cause: DeathCause | None) -> Death:
        if self.death is None:
            order = json.dumps({"do": "end", "cause": cause or "ended"}).encode()
            with contextlib.suppress(OSError):
                self.bench.control.send(order)
            try:
                self.death = _death(self.bench.expect("dead", DEATH_S))
                self._drain(1 << 26)
            finally:
                self.channel.close()
                os.close(self.output_fd)
        return self.death


def _death(message: dict[str, object]) -> Death:
    named = str(message["cause"])
    causes: dict[str, DeathCause] = {
        "timeout": "timeout",
        "memory": "memory",
        "signal": "signal",
        "exit": "exit",
        "garbled": "garbled",
    }
    return Death(
        cause=causes.get(named),
        detail=str(message["detail"]),
        cpu_s=float(str(message["cpu_s"])),
        peak_mib=int(str(message["peak_mib"])),
    )


def available() -> bool:
    """Whether this platform can fork workers from a zygote."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open")
