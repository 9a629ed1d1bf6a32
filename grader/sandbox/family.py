"""All processes of one portable worker: found although they hide, and ended with it.

Children are found below the worker. A process that was forked twice has lost its parent; it is
found in two other ways. On Linux the process that owns the bench adopts whatever loses its parent
below it, so that nothing gets out of sight but by ending that process. And the worker's private
folder has a name that nobody else knows: whoever has it in the environment with which it was
started, or works there, belongs to the worker. Elsewhere than on Linux this is the only way, and a
process that is started with an empty environment in another folder is not found. On Windows the
kernel keeps account, see `job_object`.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path

import psutil

END_S = 10.0
# The dead of whom this process is not the parent may be reaped late or, in some containers, never.
REAP_S = 2.0


def adopt_orphans() -> bool:
    """Make this process the parent of what loses its own below it; False where none can be.

    Only for a process that is the bench's alone: to whom an orphan belonged cannot be told any
    more, so that all are taken for a worker's.
    """
    if sys.platform != "linux":
        return False
    from grader.sandbox.linux import privileges

    privileges.adopt_orphans()
    return True


class Family:
    """A worker and whatever it has started.

    Args:
        outside: the worker, a child of this process.
        home: its private folder.
        not_ours: the children of this process that are no orphans; None where it does not adopt.
    """

    def __init__(
        self, outside: psutil.Process, home: Path, not_ours: Callable[[], Collection[int]] | None
    ) -> None:
        self.outside = outside
        self.home = str(home)
        self.not_ours = not_ours
        self.own = psutil.Process()

    def members(self) -> list[psutil.Process]:
        """The worker, and what is found by its parents (cheap enough to ask often)."""
        return [self.outside, *(_below(self.outside) if self.not_ours is None else self._below())]

    def end(self, wait: Callable[[], int]) -> int:
        """Kill all; the worker's exit code.

        Args:
            wait: waits for the worker's death, which is its parent's business.
        """
        members = self.members()
        kill(members)
        if sys.platform != "win32":
            # Its own session: catches at once what lost its parent but stayed in the group.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.outside.pid, signal.SIGKILL)
        code = wait()
        psutil.wait_procs([each for each in members if each != self.outside], timeout=REAP_S)
        # Again and again: what is forked while the list is read is only in the next one.
        deadline = time.monotonic() + END_S
        while (left := self._left()) and time.monotonic() < deadline:
            kill(left)
            # Waited for, because an adopted process stays in the list until it is.
            psutil.wait_procs(left, timeout=REAP_S)
        return code

    def _left(self) -> list[psutil.Process]:
        found = {each.pid: each for each in (*self._below(), *self._marked())}
        return list(found.values())

    def _below(self) -> list[psutil.Process]:
        """All below this process that adopts, but for the worker and what is none of its own."""
        if self.not_ours is None:
            return []
        # In one pass: a worker may have hundreds of orphans.
        below = {each.pid: each for each in _below(self.own)}
        parents = {pid: _parent(each) for pid, each in below.items()}
        strangers = {*self.not_ours()} - {self.outside.pid}
        return [
            each
            for pid, each in below.items()
            if pid != self.outside.pid
            and strangers.isdisjoint(_line(pid, parents))
            and not (parents[pid] == self.own.pid and _reaped(each))
        ]

    def _marked(self) -> list[psutil.Process]:
        """Who was started with this worker's folder in the environment, or works in it."""
        if sys.platform == "win32":
            return []
        running = psutil.process_iter()
        return [each for each in running if each.pid != self.outside.pid and self._is_marked(each)]

    def _is_marked(self, process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid == self.own.pid or process.status() == psutil.STATUS_ZOMBIE:
                return False
            if Path(process.cwd()).is_relative_to(self.home):
                return True
            return self.home in process.environ().values()
        # Another user's, or gone.
        return False


def kill(processes: list[psutil.Process]) -> None:
    """End these processes at once, as far as they still run."""
    # Children first, so that a parent that watches over them is not told in time to start more.
    for each in reversed(processes):
        with contextlib.suppress(psutil.Error):
            each.kill()


def _below(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return list(process.children(recursive=True))
    return []


def _reaped(orphan: psutil.Process) -> bool:
    """Whether it is dead and, by now, nowhere."""
    with contextlib.suppress(psutil.Error):
        if orphan.status() != psutil.STATUS_ZOMBIE:
            return False
        orphan.wait(0)
    return True


def _parent(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error):
        return process.ppid()
    return 0


def _line(pid: int, parents: dict[int, int]) -> list[int]:
    """The process and those above it, as far as they are known."""
    line = [pid]
    while (parent := parents.get(line[-1], 0)) and parent not in line:
        line.append(parent)
    return line
