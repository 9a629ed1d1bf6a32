"""The process of a portable worker: start, pipes, limits, and its end with all it has started."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from grader.model import Limits
from grader.sandbox import family, job_object, launch, pipes, scratch, tasks

END_S = 10.0
# How many processes and threads a user may start beside those that run already, so that a fork
# bomb leaves room for whoever ends it. Far more than other jobs of the user start in that time.
MORE_TASKS = 512
# Pipes of a dead worker end at once, unless something that it started got away.
JOIN_S = 2.0


class Spawned:
    """A worker process, its threads and its folder."""

    def __init__(self, home: Path, not_orphans: Callable[[], Collection[int]] | None) -> None:
        self.home = home
        program = "from grader.sandbox.portable_worker import main; main()"
        self.popen: subprocess.Popen[bytes] = tasks.started(
            lambda: subprocess.Popen(
                launch.command(program),
                cwd=home,
                env=launch.environment(home),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                **_group(),
            )
        )
        self.outside = psutil.Process(self.popen.pid)
        self.family = family.Family(self.outside, home, not_orphans)
        self.job = self._job()
        # They end with what writes into them.
        self.answers = pipes.Pipe(self.popen.stdout)
        self.prints = pipes.Pipe(self.popen.stderr, most_chunks=256)
        self.requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        tasks.started(threading.Thread(target=self._write, daemon=True).start)

    def _job(self) -> "job_object.WinJob | None":
        """Windows: the job that the worker has been taken into; None where it was refused."""
        if sys.platform != "win32":
            return None
        try:
            job = job_object.WinJob(self.popen.pid, processes=Limits().processes)
        except OSError:
            job = None
        # Only now can it start anything.
        self.outside.resume()
        return job

    def _write(self) -> None:
        """Requests, from a thread: a worker that does not read must not block the judge."""
        while (data := self.requests.get()) is not None and self.popen.stdin is not None:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self.popen.stdin.fileno(), view) :]
            except (OSError, ValueError):
                return

    def give_limits(self, limits: Limits) -> None:
        """The first line on stdin: limits that a worker can set on itself."""
        told = asdict(limits) | {"tasks": _tasks() + MORE_TASKS}
        self.requests.put(json.dumps(told).encode() + b"\n")

    def limit_job(self, limits: Limits) -> None:
        """Windows: bound what the worker may have from now on, above what it has."""
        if sys.platform == "win32" and self.job is not None:
            with contextlib.suppress(psutil.Error):
                memory = self.outside.memory_info().private + (limits.memory_mib << 20)
                told = job_object.limits(processes=limits.processes, memory_bytes=memory)
                self.job.limit(told)

    def cpu_s(self) -> float:
        try:
            used = self.outside.cpu_times()
        except psutil.Error:
            return 0.0
        return float(used.user + used.system)

    def end(self) -> int:
        """Kill the process and what it started; its exit code (negative for a signal)."""
        if self.job is not None:
            self.job.end()
        code = self.family.end(lambda: self.popen.wait(END_S))
        self.requests.put(None)
        if self.popen.stdin is not None:
            with contextlib.suppress(OSError):
                self.popen.stdin.close()
        with contextlib.suppress(OSError):
            # What is still held open (Windows) goes with the bench's folder.
            scratch.remove(self.home)
        return code

    def close_pipes(self) -> None:
        for each in (self.answers, self.prints):
            each.close(JOIN_S)


def _group() -> dict[str, Any]:
    group = launch.own_group()
    if sys.platform == "win32":
        # It must be in its job before it can start anything.
        group["creationflags"] |= job_object.CREATE_SUSPENDED
    return group


def _tasks() -> int:
    """How many processes and threads this user has now, as far as the system tells."""
    if sys.platform == "win32":
        return 0
    user = os.getuid()
    total = 0
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if each.uids().real == user:
                total += each.num_threads()
    return total
