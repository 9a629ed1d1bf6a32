"""What a portable worker writes, read by threads, because Windows cannot poll pipes."""

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import IO

from grader.errors import GraderError
from grader.sandbox import tasks

CHUNK = 1 << 16
# Of what is printed while it is taken; the rest comes with the next look.
MOST_AT_ONCE = 1 << 22


class Pipe:
    """The reading end of a pipe, and what has come out of it.

    Args:
        most_chunks: that are kept; the writer has to wait for whoever takes them. 0: no bound.
    """

    def __init__(self, stream: IO[bytes] | None, *, most_chunks: int = 0) -> None:
        if stream is None:
            raise GraderError("a worker without pipes")
        self.stream = stream
        self.chunks: queue.Queue[bytes] = queue.Queue(most_chunks)
        # Held from before a read until what was read is in the queue.
        self.reading = threading.Lock()
        self.reader = threading.Thread(target=self._pump, daemon=True)
        tasks.started(self.reader.start)

    def get(self, timeout_s: float) -> bytes | None:
        """The next bytes; b"" at the end; None when none came in time."""
        try:
            return self.chunks.get(timeout=timeout_s) if timeout_s > 0 else self.chunks.get_nowait()
        except queue.Empty:
            return None

    def take(self, keep: Callable[[bytes], None]) -> None:
        """Give `keep` all that has been written so far (on Windows: that has been read so far).

        A worker flushes what it prints before it answers, so that whoever takes after an answer
        has all that was printed before it, however late the thread may be.
        """
        self._take_read(keep)
        if sys.platform == "win32" or self.stream.closed:
            return
        # The thread may hold the lock while it waits for room in the queue.
        while not self.reading.acquire(timeout=0.01):
            self._take_read(keep)
        try:
            self._take_read(keep)
            most = MOST_AT_ONCE
            while most > 0 and _readable(self.stream.fileno(), 0) and (data := self._read()):
                keep(data)
                most -= len(data)
        finally:
            self.reading.release()

    def close(self, timeout_s: float) -> None:
        """Close it, unless a process that got away still holds the other end."""
        self.reader.join(timeout_s)
        if not self.reader.is_alive():
            self.stream.close()

    def _take_read(self, keep: Callable[[bytes], None]) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                keep(self.chunks.get_nowait())

    def _pump(self) -> None:
        """Move the pipe into the queue until it ends; the end itself is b""."""
        descriptor = self.stream.fileno()
        ended = False
        while not ended:
            if sys.platform == "win32":
                ended = self._move()
                continue
            # Waits without the lock, and reads only what nobody else has read meanwhile.
            _readable(descriptor, None)
            with self.reading:
                ended = _readable(descriptor, 0) and self._move()

    def _move(self) -> bool:
        """Read once; whether that was the end."""
        data = self._read()
        self.chunks.put(data)
        return not data

    def _read(self) -> bytes:
        try:
            return os.read(self.stream.fileno(), CHUNK)
        except OSError:
            return b""


def _readable(descriptor: int, timeout_ms: int | None) -> bool:
    """Whether a read returns at once (also with the end). POSIX only."""
    if sys.platform == "win32":
        return True
    import select

    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(timeout_ms))
