"""The only place that writes to the terminal.

Nothing that is printed can steer it: control characters are written out. Nothing fails
because a console is old: what it cannot encode is replaced.
"""

import codecs
import contextlib
import errno
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from grader.cli.layout import Line, clean, columns

_REPLACEMENTS = {
    "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-",
    "×": "x", "·": ".", "→": "->", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "±": "+-",
    "π": "pi", "，": ", ", "。": ". ", "：": ": ", "；": "; ", "（": " (", "）": ") ", "、": ", ",
    "！": "! ", "？": "? ", "\u00a0": " ",
}  # fmt: skip
_CLOSED_PIPE = frozenset({errno.EPIPE, errno.EINVAL})  # Windows says EINVAL


def prepare() -> None:
    """Make the standard streams write whatever their encoding can, and never raise for the rest."""
    codecs.register_error("grader.replace", _replaced)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="grader.replace")  # type: ignore[union-attr]


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    chars = error.object[error.start : error.end]
    return "".join(_REPLACEMENTS.get(char, "?") for char in chars), error.end


def encoding() -> str:
    """The encoding of standard output."""
    return getattr(sys.stdout, "encoding", None) or "ascii"


def show(lines: Iterable[Line | str]) -> None:
    """Write lines to standard output, in colour where a person watches."""
    colourful = _wants_colour(sys.stdout)
    _write(sys.stdout, "".join(_drawn(line, colourful=colourful) + "\n" for line in lines))


def say(*lines: str) -> None:
    """Write a message beside the result, to standard error."""
    rows = [clean(row) for line in lines for row in line.split("\n")]
    _write(sys.stderr, "".join(row + "\n" for row in rows))


def is_watched() -> bool:
    """Whether a person sees standard error, so that a line on it may change."""
    stream = sys.stderr
    return stream is not None and stream.isatty() and not os.environ.get("CI")


def redraw(line: str, before: int) -> None:
    """Put a line in the place of the last one on standard error, which took `before` columns."""
    rest = " " * (before - columns(line))
    _write(sys.stderr, "\r" + clean(line) + rest + ("" if line else "\r"))


def emit(text: str) -> None:
    r"""Write machine-readable text to standard output: ASCII, `\n` line ends everywhere."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        _write(sys.stdout, text)
        return
    with _quiet_when_closed():
        sys.stdout.flush()
        binary.write(text.encode("ascii", "backslashreplace"))
        binary.flush()


def _drawn(line: Line | str, *, colourful: bool) -> str:
    if isinstance(line, str):
        return clean(line)
    text = clean(line.text)
    if not (colourful and line.word):
        return text
    import click

    painted = click.style(line.word, fg=line.colour, bold=True)
    return text.replace(line.word, painted, 1)


def _wants_colour(stream: TextIO | None) -> bool:
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty() and _understands_colour()


def _understands_colour() -> bool:
    """True unless an old Windows console would print the codes themselves."""
    if sys.platform != "win32":
        return True
    import ctypes

    console = ctypes.windll.kernel32
    handle, mode = console.GetStdHandle(-11), ctypes.c_uint32()
    if not console.GetConsoleMode(handle, ctypes.byref(mode)):
        return False
    return bool(console.SetConsoleMode(handle, mode.value | 0x0004))


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    with _quiet_when_closed():
        stream.write(text)
        stream.flush()


@contextlib.contextmanager
def _quiet_when_closed() -> Iterator[None]:
    """Go on without a reader (`grade ... | head`): the exit code is still of use."""
    try:
        yield
    except OSError as error:
        if error.errno not in _CLOSED_PIPE:
            raise
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
