"""How far a batch has come: a bar for a person who watches, lines for a log. Counts only."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from grader.cli import terminal
from grader.cli.root import Desk

if TYPE_CHECKING:
    from grader.bulk.batch import Progress

_EVERY_S: Final = 10.0
_FEWEST: Final = 8
_LEAST_S: Final = 3.0


@contextlib.contextmanager
def shown(here: Desk) -> Iterator[Callable[["Progress"], None]]:
    """Calls with how far it is; nothing is drawn before the first."""
    if terminal.is_watched():
        with _bar(here) as tell:
            yield tell
    else:
        yield _Log(here).tell


class _Clock:
    """The rate since the first result: before it, PyTorch was starting.

    One result after a short while tells nothing: the first few come together, from as many judges
    as there are, and the next ones late. Nothing is told before there is something to tell from.
    """

    def __init__(self) -> None:
        self.began: float | None = None
        self.first = 0

    def pace(self, progress: "Progress") -> tuple[float, float] | None:
        """Submissions a second, and the seconds that are left; None before it can be told."""
        now = time.monotonic()
        if self.began is None:
            if progress.graded:
                self.began, self.first = now, progress.graded
            return None
        since, elapsed = progress.graded - self.first, now - self.began
        left = progress.planned - progress.reused - progress.graded
        if not left or since < _FEWEST or elapsed < _LEAST_S:
            return None
        rate = since / elapsed
        return rate, left / rate


class _Log:
    """A line at most every ten seconds, and one at the end."""

    def __init__(self, here: Desk) -> None:
        self.here = here
        self.clock = _Clock()
        self.last = time.monotonic()

    def tell(self, progress: "Progress") -> None:
        now = time.monotonic()
        done = progress.reused + progress.graded
        if progress.graded == 0 and progress.reused:
            terminal.say(
                self.here.say("cli.batch.reused", reused=progress.reused, planned=progress.planned)
            )
        pace = self.clock.pace(progress)
        if progress.graded == 0 or (now - self.last < _EVERY_S and done < progress.planned):
            return
        self.last = now
        line = self.here.say("cli.batch.so_far", done=done, planned=progress.planned)
        terminal.say(line + _paced(pace, self.here))


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
        clock = _Clock()

        def tell(progress: "Progress") -> None:
            done = progress.reused + progress.graded
            pace = clock.pace(progress)
            said = (
                _paced(pace, here).lstrip(",， ")
                if progress.graded
                else here.say("cli.batch.starting")
            )
            bar.update(task, total=progress.planned, completed=done, description=said)

        yield tell


def _paced(pace: tuple[float, float] | None, here: Desk) -> str:
    if pace is None:
        return ""
    rate, left = pace
    return here.say("cli.batch.rate", rate=f"{rate:.1f}", left=duration(left, here))


def duration(seconds: float, here: Desk) -> str:
    """`40 s`, `12 min`, `3.5 h`: no more exact than it is known."""
    if seconds < 90:
        return here.say("cli.batch.seconds", number=round(seconds))
    if seconds < 90 * 60:
        return here.say("cli.batch.minutes", number=round(seconds / 60))
    return here.say("cli.batch.hours", number=f"{seconds / 3600:.1f}")
