"""A worker's folder for files: how full it is, and how it is emptied, whatever was made in it.

Nothing here recurses: a submission can nest folders deeper than Python's stack, and deeper than
any path may be long. Imports nothing of the package, because workers are forked with it loaded.
"""

import contextlib
import itertools
import os
from pathlib import Path

MOST_NAMES = 10_000
MOST_LEVELS = 64


def overfull(folder: Path, most_bytes: int) -> bool:
    """Whether there is more below `folder` than allowed: bytes on the disk, names, or levels."""
    held, names = 0, 0
    waiting = [(str(folder), 0)]
    while waiting:
        place, level = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                names += 1
                # Blocks, not the length: a hole takes no room.
                held += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, level + 1))
                if held > most_bytes or names > MOST_NAMES or level > MOST_LEVELS:
                    return True
    return False


def remove(folder: Path) -> None:
    """Remove `folder` with all that is in it; nothing may be using it any more.

    Raises:
        OSError: when something could not be removed.
    """
    if not folder.is_dir():
        return
    fresh = itertools.count()
    while below := _folders(folder):
        for each in below:
            # Folders two levels down are moved up, so that no path ever gets long.
            for deeper in _folders(each):
                _move_up(deeper, folder, fresh)
            each.rmdir()
    folder.rmdir()


def _folders(place: Path) -> list[Path]:
    """The folders in `place`, from which everything else is removed."""
    # One that may not be listed would stay for the next submission.
    place.chmod(0o700)
    with os.scandir(place) as entries:
        kinds = [(Path(entry.path), entry.is_dir(follow_symlinks=False)) for entry in entries]
    for path, is_folder in kinds:
        if not is_folder:
            path.unlink()
    return [path for path, is_folder in kinds if is_folder]


def _move_up(path: Path, folder: Path, fresh: "itertools.count[int]") -> None:
    for number in fresh:
        target = folder / f"{number}.moved"
        if not os.path.lexists(target):
            # A folder can be moved only by who may write to it: `..` changes.
            path.chmod(0o700)
            path.rename(target)
            return
