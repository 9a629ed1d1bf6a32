"""Ends a process whose time is up, or whose memory has grown too large."""

import math
import subprocess
import sys
import threading
import time
from typing import Final, Literal

_WATCH_S: Final = 1.0
_WATCH_MEMORY_S: Final = 0.1


class Watchdog(threading.Thread):
    """Kills a process at its deadline. One for all that it does: a thread for each would be felt.

    Args:
        memory_mib: what it may take where the kernel does not bound it (elsewhere than on Linux).
    """

    def __init__(
        self, process: "subprocess.Popen[bytes] | None", *, memory_mib: float = math.inf
    ) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.memory_mib = math.inf if sys.platform == "linux" else memory_mib
        self.deadline = math.inf
        self.over = threading.Event()
        self.killed_for: Literal["time", "memory"] | None = None

    def run(self) -> None:
        every_s = _WATCH_S if math.isinf(self.memory_mib) else _WATCH_MEMORY_S
        while not self.over.wait(every_s):
            if time.monotonic() > self.deadline:
                self._kill("time")
            elif not math.isinf(self.memory_mib) and self._memory_mib() > self.memory_mib:
                self._kill("memory")

    def _kill(self, why: Literal["time", "memory"]) -> None:
        if self.process is not None:
            self.killed_for = why
            self.process.kill()
        self.over.set()

    def _memory_mib(self) -> float:
        import psutil

        try:
            held = psutil.Process(self.process.pid).memory_info().rss if self.process else 0
        except psutil.Error:
            return 0
        return held / (1024 * 1024)
