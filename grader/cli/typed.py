"""The command as it was typed, to be typed again: how `grade` was started, and quoting."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath

# Words that no shell of the platform takes for anything but themselves. The shell has already
# replaced a leading `~`, so one that is still there belongs to a name.
_PLAIN_POSIX = re.compile(r"[\w@%+:,./-][\w@%+=:,./-]*")
_PLAIN_WINDOWS = re.compile(r"[\w.:/\\+-][\w.:/\\=+-]*")
# What double quotes do not keep from being looked at; PowerShell takes curly quotes for quotes.
_ACTIVE_POSIX = re.compile(r'["$`\\!]')
_ACTIVE_WINDOWS = re.compile('["“”„$`]')
_SINGLE_QUOTES = re.compile("(['‘’‚‛])")


def command() -> str:
    """The command line that started this process, for the shell of this platform."""
    windows = os.name == "nt"
    words = [*_program(sys.argv, sys.orig_argv, windows=windows), *sys.argv[1:]]
    return joined(words, windows=windows)


def joined(words: Sequence[str], *, windows: bool) -> str:
    """The words as one line that can be pasted into a POSIX shell, or into PowerShell."""
    quoted = [_quoted_for_windows(word) if windows else _quoted(word) for word in words]
    # To PowerShell a quoted word is a text; `&` makes a command of it.
    call = "& " if windows and quoted[0] != words[0] else ""
    return call + " ".join(quoted)


def _program(argv: Sequence[str], original: Sequence[str], *, windows: bool) -> list[str]:
    """`grade`, or `python -m grader` with the options that Python was given."""
    started = list(original[: len(original) - len(argv) + 1])
    if "-m" in started:
        return [_as_found(started[0], windows=windows), *started[1:]]
    return [_as_found(argv[0], windows=windows)]


def _as_found(program: str, *, windows: bool) -> str:
    """The bare name where the shell finds this very program by it, otherwise the path."""
    path: PurePath = PureWindowsPath(program) if windows else PurePosixPath(program)
    name = path.stem if windows and path.suffix.lower() == ".exe" else path.name
    found = shutil.which(name)
    if found is None:
        return program
    same = os.path.normcase(os.path.realpath(found)) == os.path.normcase(os.path.realpath(program))
    # On Windows a launcher may have named itself without its ending.
    return name if same or (windows and PureWindowsPath(found).with_suffix("") == path) else program


def _quoted(word: str) -> str:
    if _PLAIN_POSIX.fullmatch(word):
        return word
    return shlex.quote(word) if not word or _ACTIVE_POSIX.search(word) else f'"{word}"'


def _quoted_for_windows(word: str) -> str:
    if _PLAIN_WINDOWS.fullmatch(word):
        return word
    if _ACTIVE_WINDOWS.search(word):
        return "'" + _SINGLE_QUOTES.sub(r"\1\1", word) + "'"
    return f'"{word}"'
