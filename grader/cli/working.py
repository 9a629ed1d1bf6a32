"""What is going on while a file is graded: a line that changes, or one plain line in a log."""

import threading
import time
from types import TracebackType
from typing import Final

from grader.cli import terminal
from grader.cli.layout import WIDTH, clean, columns, cut
from grader.cli.root import Desk

# Before the first, nobody wonders; the second is for logs, in which no line can change.
_SOON_S: Final = 1.0
_LATER_S: Final = 8.0
_TICK_S: Final = 0.25
_FILE_COLUMNS: Final = 40


class Working:
    """Tells on standard error which stage a file is in, and for how long. A context manager.

    Args:
        file: as it is called on the screen.
    """

    def __init__(self, file: str, here: Desk, *, watched: bool | None = None) -> None:
        self.file = cut(clean(file), _FILE_COLUMNS)
        self.here = here
        # A person sees a line that changes; a log gets one line, and only when it takes long.
        self.watched = terminal.is_watched() if watched is None else watched
        self.stage = ""
        self.since = 0.0
        self.drawn = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._draw, daemon=True)

    def hear(self, stage: str) -> None:
        """From now on the file is in this stage: `loading` or `testing`."""
        self.stage, self.since = stage, time.monotonic()
        if not self.thread.ident and not self.over.is_set():
            self.thread.start()

    def __enter__(self) -> "Working":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.over.set()
        if self.thread.ident:
            self.thread.join()
        if self.drawn:
            terminal.redraw("", self.drawn)

    def _draw(self) -> None:
        began = time.monotonic()
        wait, drawn = _TICK_S if self.watched else _LATER_S, ""
        while not self.over.wait(wait):
            now = time.monotonic()
            seconds = int(now - self.since)
            line = self.here.say(f"cli.check.{self.stage}", file=self.file, seconds=seconds)
            if not self.watched:
                terminal.say(line)
                return
            if now - began >= _SOON_S and line != drawn:
                terminal.redraw(cut(line, WIDTH), self.drawn)
                self.drawn, drawn = columns(cut(line, WIDTH)), line
