"""Bytes of a file to text, or a problem that says what the file is and what to do."""

import codecs
import io
import re
import tokenize
import warnings
from dataclasses import dataclass

from grader.model import Kind, Place, Problem
from grader.reading import guessing
from grader.reading.parsing import clean
from grader.texts import catalog

# The longer mark first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "archive"),
    (b"\x1f\x8b", "archive"),
    (b"Rar!\x1a", "archive"),
    (b"7z\xbc\xaf", "archive"),
    (b"\xd0\xcf\x11\xe0", "document"),
    (b"{\\rtf", "document"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"version https://git-lfs.github.com/", "lfs"),
)
# Word, Excel and PowerPoint files are zip files that begin with this member.
_OFFICE = b"[Content_Types].xml"
# A comment ends at its first end: tried further, a run of comments takes exponential time.
_HTML = re.compile(
    rb"\s*+(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_CONFLICT_MARKS = ("<<<<<<<", "=======", ">>>>>>>")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Their decoders take time that grows with the square of the text.
_REFUSED_CODECS = frozenset({"punycode", "idna"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decoded:
    """A text; `assumed` is the encoding where nothing says it truly, `declared` what is untrue."""

    text: str
    assumed: str = ""
    declared: str = ""


def decode(content: bytes, kind: Kind) -> str | Problem:
    """The text with `\\n` line ends and no byte order mark; else why there is none.

    A notebook is UTF-8; a script may name its encoding in its first two lines (PEP 263). Where
    that does not fit, the encoding that does is taken: the code is the same in all of them.
    """
    decoded = _decode(content, kind)
    return decoded if isinstance(decoded, Problem) else decoded.text


def assumption(content: bytes, kind: Kind) -> Problem | None:
    """What to say of a text whose encoding had to be guessed; None when it is known."""
    decoded = _decode(content, kind)
    if isinstance(decoded, Problem) or not decoded.assumed:
        return None
    code = "encoding_untrue" if decoded.declared else "encoding_assumed"
    return Problem(
        kind="encoding_assumed",
        message=catalog.text(
            f"reading.{code}", encoding=decoded.assumed, declared=decoded.declared
        ),
    )


def _decode(content: bytes, kind: Kind) -> _Decoded | Problem:
    foreign = _foreign(content)
    if foreign is not None:
        return not_source(kind, foreign)
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _strict(content[len(mark) :], encoding) or _wrong_bytes(content, encoding)
    if not content.strip():
        return _empty()
    if b"\0" in content:
        return _with_null_bytes(content, kind)
    declared = "utf-8" if kind == "notebook" else _declared(content)
    decoded = _strict(content, declared) if declared else None
    return decoded or _guessed(content, kind, declared)


def raw_text(content: bytes) -> str:
    """The bytes as text in any case, to search for a marker line or a name."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return unix_lines(content[len(mark) :].decode(encoding, "replace"))
    return unix_lines(content.decode("utf-8", "replace"))


def unix_lines(text: str) -> str:
    """The same lines with `\\n` ends; form feeds and U+2028 end no line, as in Python."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def not_source(kind: Kind, what: str) -> Problem:
    """The problem of a file that holds something else, named by its text `reading.is_*`."""
    return Problem(
        kind="not_a_notebook" if kind == "notebook" else "not_python",
        message=catalog.text(f"reading.is_{what}"),
    )


def merge_conflict(text: str) -> Problem | None:
    """The problem of an unfinished merge, at its first mark, when all three stand in order."""
    rows = text.split("\n")
    marks = [(number, row[:7]) for number, row in enumerate(rows, 1) if _is_mark(row)]
    waiting = iter(mark for _, mark in marks)
    if not all(mark in waiting for mark in _CONFLICT_MARKS):
        return None
    line = next(number for number, mark in marks if mark == _CONFLICT_MARKS[0])
    return Problem(
        kind="merge_conflict",
        message=catalog.text("reading.merge_conflict"),
        place=Place(line=line, quote=clean(rows[line - 1])),
    )


def _is_mark(row: str) -> bool:
    return row[:7] in _CONFLICT_MARKS and row[7:8] in ("", " ")


def _foreign(content: bytes) -> str | None:
    for signature, what in _SIGNATURES:
        if content.startswith(signature):
            office = what == "archive" and _OFFICE in content[:4096]
            return "document" if office else what
    head = content.removeprefix(codecs.BOM_UTF8)[:4096]
    return "html" if _HTML.match(head) else None


def _with_null_bytes(content: bytes, kind: Kind) -> _Decoded | Problem:
    kept = content.rstrip(b"\0")
    if kept and b"\0" not in kept:
        # A computer that stopped while saving leaves zeros up to the end of the disk's block.
        return _decode(kept, kind)
    found = guessing.utf16_without_mark(content)
    if found is None:
        return not_source(kind, "binary")
    return _Decoded(text=unix_lines(found[1]), assumed=found[0])


def _declared(content: bytes) -> str | None:
    """The encoding that the first two lines name, else UTF-8; None for an unusable one."""
    head = content[:4096].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # Bytes beyond ASCII in these lines must not decide here: the whole text tells better.
    plain = bytes(byte if byte < 128 else ord("?") for byte in head)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(plain).readline)
        name = codecs.lookup(encoding).name
    except (SyntaxError, LookupError, ValueError):
        return None
    return None if name in _REFUSED_CODECS else name


def _strict(content: bytes, encoding: str) -> _Decoded | Problem | None:
    """The text in a given encoding, or None when the bytes are no such text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = unix_lines(content.decode(encoding))
    except (LookupError, ValueError):
        # `rot13`, `hex` and the like are codecs, but give no text.
        return None
    if not text.strip():
        return _empty()
    # A second mark, left by joining files; Python would stop at it.
    return _Decoded(text=text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"))


def _guessed(content: bytes, kind: Kind, declared: str | None) -> _Decoded | Problem:
    if _CONTROL.search(content):
        return not_source(kind, "binary")
    named = "" if kind == "notebook" else _cookie(content)
    utf8 = _strict(content, "utf-8")
    if isinstance(utf8, _Decoded):
        return _Decoded(text=utf8.text, assumed="UTF-8", declared=named)
    found = guessing.fitting(content)
    if found is None:
        return _wrong_bytes(content, declared or "utf-8")
    return _Decoded(text=unix_lines(found[1]), assumed=found[0], declared=named)


def _cookie(content: bytes) -> str:
    """The encoding as the first two lines spell it, usable or not."""
    for line in re.split(rb"\r\n|\r|\n", content[:4096])[:2]:
        found = _COOKIE.match(line)
        if found:
            return clean(found[1].decode("ascii", "replace"), 40)
    return ""


def _empty() -> Problem:
    return Problem(kind="empty", message=catalog.text("reading.empty"))


def _wrong_bytes(content: bytes, encoding: str) -> Problem:
    """The problem of bytes that fit no encoding, at the first one that does not fit this."""
    line = 1
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        line = re.sub(rb"\r\n?", b"\n", content[: error.start]).count(b"\n") + 1
    except (LookupError, ValueError):
        pass
    return Problem(
        kind="encoding",
        message=catalog.text("reading.encoding", line=line),
        place=Place(line=line),
    )
