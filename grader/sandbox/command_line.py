"""How a process was started, forgotten: its command line names folders of the staff's.

A worker inherits the memory, and the command line, of the process that it was forked from; and
whoever may read /proc at all reads the command line of every process.
"""

import ctypes
import sys
from collections.abc import Collection
from pathlib import Path

# proc(5), from the end of the name on: arg_start and arg_end are the 48th and 49th field.
_ARG_START, _ARG_END = 48 - 3, 49 - 3


def forget(name: str) -> None:
    """Be called `name` by whoever looks, and let nothing in this process say what it was."""
    sys.argv[:] = [name]
    sys.orig_argv[:] = [name]
    if sys.platform == "linux":
        _overwrite(name.encode())


def path_within(folders: Collection[Path]) -> list[str]:
    """What stays of the import path where only these folders can be read."""
    return [each for each in sys.path if _is_within(Path(each), folders)]


def path_beyond_the_checkout() -> list[str]:
    """What stays of the import path where this package is imported from a checkout.

    What is loaded already finds its parts without it.
    """
    own = Path(__file__).parents[2]
    if own.name in ("site-packages", "dist-packages"):
        return list(sys.path)
    installed = {folder for each in sys.path if (folder := Path(each)).name.endswith("-packages")}
    return [
        each for each in sys.path if not _is_within(Path(each), [own]) or Path(each) in installed
    ]


def _is_within(path: Path, folders: Collection[Path]) -> bool:
    resolved = path.resolve()
    return not {resolved, *resolved.parents}.isdisjoint(folders)


def _overwrite(name: bytes) -> None:
    """Write over the memory that /proc/…/cmdline shows, which nothing reads after the start."""
    try:
        stat = Path("/proc/self/stat").read_bytes()
    except OSError:
        # Where there is no /proc, nobody reads a command line in it.
        return
    # The name in parentheses may hold anything, so the fields are counted from behind it.
    fields = stat.rpartition(b")")[2].split()
    start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
    if start and end > start:
        # One zero byte at the very end is what tells the kernel that it is still a command line.
        ctypes.memmove(start, name[: end - start - 1].ljust(end - start, b"\0"), end - start)
