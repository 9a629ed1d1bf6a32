"""Processes and threads, of which a user has a number only: who gets how many, and who waits.

The kernel counts what all programs of a user run. So a submission gets a small share of what there
is, and whoever of ours finds nothing left waits until somebody gives something back: a bomb that is
being ended next door must not cost a submission its grade.
"""

import errno
import sys
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Threads count as processes; no library starts as many on its own, and a pool of 32 is usual.
MOST_THREADS, LEAST_THREADS = 128, 32
# As many judges may work side by side.
SHARES = 8
# What an idle worker has itself, and what ends while it is counted.
SLACK = 8
WAIT_S, FIRST_PAUSE_S, LONGEST_PAUSE_S = 60.0, 0.01, 0.5


def share() -> int:
    """How many threads one submission may have, of those that this user may have in all."""
    if sys.platform == "win32":
        return MOST_THREADS
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if allowed == resource.RLIM_INFINITY:
        return MOST_THREADS
    return max(LEAST_THREADS, min(MOST_THREADS, allowed // SHARES))


def started(start: Callable[[], T], *, wait_s: float = WAIT_S) -> T:
    """What `start` gives; it is called again while there is no room for another process or thread.

    Raises:
        OSError, RuntimeError: there was none for `wait_s`, or something else is wrong.
    """
    deadline, pause_s = time.monotonic() + wait_s, FIRST_PAUSE_S
    while True:
        try:
            return start()
        except (OSError, RuntimeError) as error:
            if not _lacks_room(error) or time.monotonic() > deadline:
                raise
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


def _lacks_room(error: OSError | RuntimeError) -> bool:
    if isinstance(error, OSError):
        return error.errno == errno.EAGAIN
    # What `threading` makes of EAGAIN.
    return str(error) == "can't start new thread"
