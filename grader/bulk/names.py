"""Folder names for students: reversible, and safe on every file system."""

from hashlib import sha256
from typing import Final
from urllib.parse import unquote

# Upper case is written out: `Lee` and `lee` are two students, and one folder on Windows.
_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_.@")
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul"}
    | {f"{device}{digit}" for device in ("com", "lpt") for digit in range(10)}
)
_MOST: Final = 150


def folder_name(student: str) -> str:
    """`%4Cee`, `%E6%9D%8E%E9%9B%B7`: percent-encoded UTF-8, different for different students.

    What would be too long for a path is cut and told apart by a hash after `~`.
    """
    raw = student.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)
    if name.startswith(".") or name.partition(".")[0] in _DEVICES:
        name = f"%{raw[0]:02X}{name[1:]}"
    if name.endswith("."):
        # Windows drops it. (A name of one dot has been written out above.)
        name = f"{name[:-1]}%2E"
    if len(name) > _MOST:
        # No escape is cut in two: the reader must be able to decode the head.
        head = name[: _MOST - 40].rsplit("%", 1)[0]
        name = f"{head}~{sha256(raw).hexdigest()[:32]}"
    return name


def student_of(folder: str) -> str | None:
    """The student whose folder it is, or None where the name was cut."""
    return None if "~" in folder else unquote(folder)
