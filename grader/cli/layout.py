"""Lines for a terminal: clean characters, columns, wrapping (Chinese included)."""

import unicodedata
from dataclasses import dataclass

# 80 columns without the last two: some consoles add an empty line after a full one.
WIDTH = 78

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_NO_WIDTH = frozenset({"Mn", "Me"})
_CLOSING = frozenset("，。！？；：、）》」』】”’…,.!?;:)]}%")
_OPENING = frozenset("（《「『【“‘([{")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a screen; `colour` is for the first place where `word` stands."""

    text: str
    word: str = ""
    colour: str = ""


def clean(text: str) -> str:
    r"""The text on one line, with everything that could steer a terminal written out (`\x1b`)."""
    return "".join(_visible(char) for char in text.expandtabs(4))


def _visible(char: str) -> str:
    if unicodedata.category(char) not in _HIDDEN:
        return char
    number = ord(char)
    if char == "\n":
        return "\\n"
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def columns(text: str) -> int:
    """How many columns the text takes at most.

    Characters of ambiguous width (quotation marks, ellipsis, Greek) count two, as Chinese
    consoles draw them: a line that wraps early does less harm than one that overflows.
    """
    return sum(_column(char) for char in text)


def _column(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.category(char) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WFA" else 1


def pad(text: str, width: int) -> str:
    """The text, filled with blanks up to `width` columns."""
    return text + " " * max(0, width - columns(text))


def cut(text: str, width: int) -> str:
    """The text, or as many of its first words as fit before `...`."""
    if columns(text) <= width:
        return text
    head = ""
    for char in text:
        if columns(head) + _column(char) > width - 3:
            break
        head += char
    words = head.rpartition(" ")[0]
    return (f"{words} " if len(words) > len(head) // 2 else head) + "..."


def wrap(text: str, *, first: str = "", rest: str | None = None, width: int = WIDTH) -> list[str]:
    """The text broken into lines, `first` before the first of them and `rest` before the others.

    A line feed of the text starts a new line; Chinese is broken between any two characters
    but never before closing punctuation.
    """
    after = " " * columns(first) if rest is None else rest
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += _filled(_pieces(clean(paragraph)), after if lines else first, after, width)
    return lines


def _filled(pieces: list[str], first: str, rest: str, width: int) -> list[str]:
    lines: list[str] = []
    line, empty = first, True
    for piece in _fitting(pieces, width - max(columns(first), columns(rest))):
        if not empty and columns(line) + columns(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line, empty = rest, True
        if empty and lines and piece.isspace():
            continue
        line, empty = line + piece, False
    return [*lines, line.rstrip()]


def _fitting(pieces: list[str], room: int) -> list[str]:
    """The pieces, those cut up that are longer than a whole line."""
    fitting: list[str] = []
    for piece in pieces:
        part, taken = "", 0
        for char in piece:
            # Counted along: to measure the part again for each character is quadratic.
            if taken + _column(char) > room and not char.isspace():
                fitting.append(part)
                part, taken = "", 0
            part += char
            taken += _column(char)
        fitting.append(part)
    return fitting


def _pieces(text: str) -> list[str]:
    """What must stay together: words with the blanks after them, single wide characters."""
    pieces: list[str] = []
    for char in text:
        if pieces and _joins(pieces[-1], char):
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def _joins(piece: str, char: str) -> bool:
    last = piece[-1]
    if char.isspace() or last in _OPENING:
        return True
    if last.isspace():
        return piece.isspace()
    return char in _CLOSING or (_column(last) < 2 and _column(char) < 2) or not _column(char)


def code(text: str, *, first: str = "", rest: str | None = None, width: int = WIDTH) -> list[str]:
    """Lines of Python, broken only where they can still be pasted: after a comma."""
    after = " " * columns(first) if rest is None else rest
    lines: list[str] = []
    for row in text.split("\n"):
        indent = " " * (len(row) - len(row.lstrip()))
        start = (after if lines else first) + indent
        pieces = clean(row.strip()).replace(", ", ",\0").split("\0")
        spaced = [piece + " " if piece.endswith(",") else piece for piece in pieces]
        lines += _filled(spaced, start, after + indent + "    ", width)
    return lines
