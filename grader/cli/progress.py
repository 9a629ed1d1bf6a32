"""How far a batch has come: a bar for a person who watches, lines for a log. Counts only."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from grader.cli import terminal
from grader.cli.root import Desk

if TYPE_CHECKING:
    from grader.bulk.batch import Progress

_EVERY_S: Final = 10.0


@contextlib.contextmanager
def shown(here: Desk) -> Iterator[Callable[["Progress"], None]]:
    """Calls with how far it is; nothing is drawn before the first."""
    if sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("CI"):
        with _bar(here) as tell:
            yield tell
    else:
        yield _Log(here).tell


class _Log:
    """A line at most every ten seconds, and one at the end."""

    def __init__(self, here: Desk) -> None:
        self.here = here
        self.began = self.last = time.monotonic()

    def tell(self, progress: "Progress") -> None:
        now = time.monotonic()
        done = progress.reused + progress.graded
        if progress.graded == 0 and progress.reused:
            terminal.say(
                self.here.say("cli.batch.reused", reused=progress.reused, planned=progress.planned)
            )
        if progress.graded == 0 or (now - self.last < _EVERY_S and done < progress.planned):
            return
        self.last = now
        rate = progress.graded / max(now - self.began, 0.001)
        left = duration((progress.planned - done) / rate, self.here)
        terminal.say(
            self.here.say(
                "cli.batch.so_far",
                done=done,
                planned=progress.planned,
                rate=f"{rate:.1f}",
                left=left,
            )
        )


@contextlib.contextmanager
def _bar(here: Desk) -> Iterator[Callable[["Progress"], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns: tuple[Any, ...] = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(here.say("cli.batch.starting"), total=None)
        began = time.monotonic()

        def tell(progress: "Progress") -> None:
            done = progress.reused + progress.graded
            rate = progress.graded / max(time.monotonic() - began, 0.001)
            said = here.say("cli.batch.starting")
            if progress.graded:
                left = duration((progress.planned - done) / rate, here)
                said = here.say("cli.batch.rate", rate=f"{rate:.1f}", left=left)
            bar.update(task, total=progress.planned, completed=done, description=said)

        yield tell


def duration(seconds: float, here: Desk) -> str:
    """`40 s`, `12 min`, `3.5 h`: no more exact than it is known."""
    if seconds < 90:
        return here.say("cli.batch.seconds", number=round(seconds))
    if seconds < 90 * 60:
        return here.say("cli.batch.minutes", number=round(seconds / 60))
    return here.say("cli.batch.hours", number=f"{seconds / 3600:.1f}")
