"""`grade batch` as anybody would run it: how long, how much processor time, how much memory."""

import os
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import psutil

from benchmarks.measuring import Broken

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch that ran to its end.

    Args:
        cpu_s: of all processes, those of submissions included.
        memory_mib: of all processes together, once a second, from the first report on.
        finished_s: when each report was written, in seconds after the first of them.
    """

    submissions: int
    jobs: int
    wall_s: float
    cpu_s: float
    memory_mib: tuple[float, ...] = ()
    finished_s: tuple[float, ...] = ()

    @property
    def memory_growth(self) -> float:
        """The median of the last quarter of the samples over that of the first; 1 is flat."""
        quarter = len(self.memory_mib) // 4
        if not quarter:
            return 1.0
        first, last = self.memory_mib[:quarter], self.memory_mib[-quarter:]
        return statistics.median(last) / statistics.median(first)

    @property
    def steady_s(self) -> float:
        """Seconds from one report to the next, start-up left out; judges work side by side."""
        return self.finished_s[-1] / max(1, len(self.finished_s) - 1)

    @property
    def slowing(self) -> float:
        """What the last quarter of the submissions took over what the first took; 1 is steady."""
        quarter = len(self.finished_s) // 4
        if not quarter:
            return 1.0
        times = self.finished_s
        first = times[quarter] - times[0]
        return (times[-1] - times[-1 - quarter]) / first if first else 1.0


def grade_command() -> Path:
    """The installed command.

    Raises:
        Broken: there is none beside this Python.
    """
    found = shutil.which("grade", path=Path(sys.executable).parent)
    if found is None:
        raise Broken(f"there is no `grade` beside {sys.executable}: install the project first")
    return Path(found)


def graded(source: Path, out: Path, *options: str | Path, jobs: int, every_s: float = 1.0) -> Batch:
    """Grade a folder with the real command, from nothing to the tables.

    Args:
        every_s: seconds between two looks at the memory.

    Raises:
        Broken: the command failed.
    """
    words = [grade_command(), "batch", source, "--out", out, "--jobs", str(jobs)]
    words += ["--seed", "7", "--allow-reduced", *options]
    began = perf_counter()
    with (out.parent / f"{out.name}.screen").open("w+b") as screen:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=screen, stderr=subprocess.STDOUT
        )
        watch = _Watch(process.pid, out, every_s)
        watch.start()
        # Not `wait`: only the kernel's account has the processes of the submissions, too.
        _, status, used = os.wait4(process.pid, 0)
        wall_s = perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        watch.stop()
        screen.seek(0)
        if process.returncode:
            last = screen.read()[-4000:].decode("utf-8", "replace")
            raise Broken(f"{words} ended with {process.returncode}:\n{last}")
    finished = sorted(each.stat().st_mtime for each in reports(out))
    return Batch(
        submissions=len(finished),
        jobs=jobs,
        wall_s=wall_s,
        cpu_s=used.ru_utime + used.ru_stime,
        memory_mib=tuple(watch.samples),
        finished_s=tuple(each - finished[0] for each in finished),
    )


def reports(out: Path) -> Sequence[Path]:
    """The staff's reports of a batch."""
    return sorted((out / "reports").glob("*/*.json"))


class _Watch(threading.Thread):
    """Adds up the memory of a process and all below it, as long as reports are being written."""

    def __init__(self, pid: int, out: Path, every_s: float) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.out = out
        self.every_s = every_s
        self.samples: list[float] = []
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(self.every_s):
            # Before the first report processes are still starting.
            if next((self.out / "reports").glob("*"), None) is not None:
                self.samples.append(_memory_mib(self.pid))

    def stop(self) -> None:
        self.ended.set()
        self.join()


def _memory_mib(pid: int) -> float:
    try:
        top = psutil.Process(pid)
        tree = [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(map(_bytes, tree)) / MIB


def _bytes(process: psutil.Process) -> int:
    """What it holds, with its share of what it has in common with others where that can be read."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.AccessDenied:
        return _resident(process)
    except (psutil.NoSuchProcess, AttributeError, OSError):
        return 0


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
