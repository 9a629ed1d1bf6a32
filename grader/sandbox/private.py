"""The private folder of a judge: held by who uses it, so that one of a dead run can be told.

Whoever makes the folder holds a lock on it that ends with the last process that has inherited it,
however that ends. What nobody holds was left by processes that were killed, and is removed by the
next run. A folder that is found in the moment between being made and being held is removed as
well; its maker sees that, and makes another one.
"""

import contextlib
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.sandbox import scratch

PREFIX: Final = "torchgrade-run_"
# What is being killed may still write for a moment.
PATIENCE_S: Final = 2.0
_WAIT_S: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFolder:
    """A folder of one's own.

    Args:
        hold: a descriptor that holds it as long as any process has it open; None on Windows.
    """

    path: Path
    hold: int | None

    @property
    def passed_on(self) -> tuple[int, ...]:
        """The descriptors that a process which uses the folder, too, must inherit."""
        return () if self.hold is None else (self.hold,)

    def remove(self) -> None:
        """Remove it with all that is in it, as far as possible, and let it go."""
        deadline = time.monotonic() + PATIENCE_S
        while not _removed(self.path) and time.monotonic() < deadline:
            time.sleep(_WAIT_S)
        if self.hold is not None:
            os.close(self.hold)


def make() -> PrivateFolder:
    """A new, empty folder, held by this process."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        if sys.platform == "win32":
            return PrivateFolder(path=path, hold=None)
        hold = _held(path, alone=False)
        if hold is not None:
            return PrivateFolder(path=path, hold=hold)


def remove_left() -> None:
    """Remove the folders of this user's runs that are dead."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as found:
        for each in found:
            if each.name.startswith(PREFIX) and each.is_dir(follow_symlinks=False):
                _remove_unless_held(Path(each.path))


def _remove_unless_held(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.lstat().st_uid != os.geteuid():
            return
        hold = _held(path, alone=True)
        if hold is not None:
            _removed(path)
            os.close(hold)


def _removed(path: Path) -> bool:
    try:
        scratch.remove(path)
    except OSError:
        # Also when another process removes it at the same time.
        return False
    return True


if sys.platform != "win32":

    def _held(path: Path, *, alone: bool) -> int | None:
        """A descriptor that holds the folder; None when it is gone, or somebody stands against it.

        Args:
            alone: nobody else may hold it.
        """
        import fcntl

        try:
            hold = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            return None
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        try:
            fcntl.flock(hold, how | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(hold)
            return None
        except OSError:
            # A file system without locks: nobody's folder can be told to be left.
            if alone:
                os.close(hold)
                return None
        if path.exists() and os.path.samestat(os.fstat(hold), path.stat()):
            return hold
        os.close(hold)
        return None
