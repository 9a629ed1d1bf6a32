"""Files in folders and in zip files, listed and read without ever unpacking anything.

Nothing that a zip file says becomes a path of this machine: members are read from where they are,
so a name like `../../x` can do no harm, and is refused only because no honest tool writes it. What
a zip file can still do is be big; every size is bounded by what is really read, never by what its
directory claims.
"""

import io
import os
import stat
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from grader.bulk import zipnames
from grader.bulk.facts import Facts, Known, facts
from grader.submission import MAX_BYTES, MAX_FILE_BYTES

SUFFIXES: Final = (".py", ".ipynb")
# Stands, as the name of an entry, for a folder in which there is nothing.
EMPTY: Final = ""
# Zip files that are read whole, because they lie inside another one.
MOST_INNER_BYTES: Final = 64 * 1024 * 1024
MOST_MEMBERS: Final = 200_000
# Of a zip file inside another one, which nobody but a student packs.
MOST_INNER_MEMBERS: Final = 20_000
# What file systems and people can live with. Longer names cost every step after this one.
MOST_NAME_BYTES: Final = 255
MOST_PATH_BYTES: Final = 1024
MOST_FOLDERS: Final = 64
MOST_RATIO: Final = 200
# Below the outermost: the zip file that a student handed in, and one in it.
MOST_NESTED: Final = 2
_SHOWN: Final = 60
_IGNORED_FOLDERS = frozenset(
    {
        ".git",
        ".ipynb_checkpoints",
        "__macosx",
        "__pycache__",
        "node_modules",
        "site-packages",
        "venv",
    }
)
_TROUBLE = (
    OSError,
    zipfile.BadZipFile,
    ValueError,
    NotImplementedError,
    RuntimeError,
    EOFError,
    zlib.error,
)


# Told what is opened next; what it gives is a reason not to.
Begin: TypeAlias = Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """Where a file's bytes are: a path, and in zip files the members' positions, outside in."""

    path: str
    members: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file that arrived.

    Args:
        parts: its path below the folder that is graded; a zip file counts as a folder.
    """

    parts: tuple[str, ...]
    locator: Locator

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def shown(self) -> str:
        return "/".join(self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Something that arrived and is not looked into; `reason` is a key of the texts `[bulk]`."""

    shown: str
    reason: str


def is_source(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def walk(
    root: Path, *, outside: Path | None = None, begin: Begin = lambda _shown: None
) -> Iterator[Entry | Refused]:
    """Every file below a folder or in a zip file, in a stable order, litter left out.

    Args:
        outside: a folder that is not looked into (where results are written).
        begin: is called before a zip file is opened, and may give a reason to refuse it.
    """
    if root.is_dir():
        yield from _folder(root, (), outside, begin)
    else:
        with root.open("rb") as stream:
            yield from _archive(stream, (), Locator(path=str(root)), root.stat().st_size, begin)


def _folder(
    folder: Path, parts: tuple[str, ...], outside: Path | None, begin: Begin
) -> Iterator[Entry | Refused]:
    try:
        with os.scandir(folder) as found:
            inside = sorted(found, key=lambda each: each.name)
    except OSError:
        yield Refused(shown=_shown(parts), reason="cannot_open")
        return
    if any(each.name == "pyvenv.cfg" for each in inside):
        return
    if parts and all(_is_litter(each.name) and each.name != ".git" for each in inside):
        yield Entry(parts=(*parts, EMPTY), locator=Locator(path=str(folder)))
    for each in inside:
        here = (*parts, _text(each.name))
        if (reason := _unbearable(here)) is not None:
            yield Refused(shown=_short(here), reason=reason)
        elif each.is_symlink():
            if not _is_litter(each.name):
                yield Refused(shown=_shown(here), reason="link")
        elif each.is_dir(follow_symlinks=False):
            path = Path(each.path)
            if outside is not None and outside.is_dir() and path.samefile(outside):
                continue
            if each.name == ".git":
                # Tells that the folder is a repository; nothing in it is looked at.
                yield Entry(parts=here, locator=Locator(path=each.path))
            elif not _is_litter(each.name):
                yield from _folder(path, here, outside, begin)
        elif not _is_litter(each.name):
            yield from _file(each, here, begin)


def _file(
    found: "os.DirEntry[str]", parts: tuple[str, ...], begin: Begin
) -> Iterator[Entry | Refused]:
    if not found.is_file(follow_symlinks=False):
        yield Refused(shown=_shown(parts), reason="no_regular_file")
    elif found.name.lower().endswith(".zip"):
        try:
            with _opened(found.path) as stream:
                size = os.fstat(stream.fileno()).st_size
                yield from _archive(stream, parts, Locator(path=found.path), size, begin)
        except OSError:
            yield Refused(shown=_shown(parts), reason="cannot_open")
    else:
        yield Entry(parts=parts, locator=Locator(path=found.path))


def _archive(
    stream: BinaryIO, parts: tuple[str, ...], locator: Locator, size: int, begin: Begin
) -> Iterator[Entry | Refused]:
    """What is in a zip file; an empty entry where nothing in it stands for its owner."""
    stands = False
    for each in _members(stream, parts, locator, size, begin):
        stands = stands or isinstance(each, Entry) or each.reason != "unsafe_name"
        yield each
    if parts and not stands:
        yield Entry(parts=(*parts, EMPTY), locator=locator)


def _members(
    stream: BinaryIO, parts: tuple[str, ...], locator: Locator, size: int, begin: Begin
) -> Iterator[Entry | Refused]:
    reason = begin(_shown(parts))
    if reason is not None:
        yield Refused(shown=_shown(parts), reason=reason)
        return
    try:
        opened = zipfile.ZipFile(stream)
        members = opened.infolist()
    except _TROUBLE:
        yield Refused(shown=_shown(parts), reason="not_a_zip")
        return
    if len(members) > (MOST_INNER_MEMBERS if locator.members else MOST_MEMBERS):
        yield Refused(shown=_shown(parts), reason="too_many_files")
        return
    environments = {
        each.filename.rpartition("/")[0]
        for each in members
        if each.filename.endswith("/pyvenv.cfg")
    }
    encoding = zipnames.encoding_of_members(members)
    order = sorted(range(len(members)), key=lambda at: (members[at].filename, at))
    for at in order:
        member = members[at]
        names = tuple(
            part for part in zipnames.name_of(member, encoding).split("/") if part not in ("", ".")
        )
        if encoding is None and not parts and not member.filename.isascii():
            yield Refused(shown=_shown((*parts, *names)), reason="name_encoding")
            continue
        if (reason := _unbearable((*parts, *names))) is not None:
            yield Refused(shown=_short((*parts, *names)), reason=reason)
            continue
        if ".." in names:
            yield Refused(shown=_shown((*parts, *names)), reason="unsafe_name")
            continue
        if member.is_dir() or not names or any(_is_litter(name) for name in names):
            if ".git" in names:
                head = names[: names.index(".git") + 1]
                yield Entry(parts=(*parts, *head), locator=locator)
            elif names and member.is_dir() and not any(_is_litter(name) for name in names):
                yield Entry(parts=(*parts, *names, EMPTY), locator=locator)
            continue
        if any(member.filename.startswith(f"{each}/") for each in environments):
            continue
        here = Locator(path=locator.path, members=(*locator.members, at))
        yield from _member(opened, member, (*parts, *names), here, size, begin)


def _member(
    opened: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    parts: tuple[str, ...],
    locator: Locator,
    size: int,
    begin: Begin,
) -> Iterator[Entry | Refused]:
    reason = _refusal(member, size)
    if reason is not None:
        yield Refused(shown=_shown(parts), reason=reason)
    elif not member.filename.lower().endswith(".zip"):
        yield Entry(parts=parts, locator=locator)
    elif len(locator.members) > MOST_NESTED:
        yield Refused(shown=_shown(parts), reason="nested_too_deep")
    else:
        try:
            inner = _inner(opened, member)
        except _TROUBLE:
            yield Refused(shown=_shown(parts), reason="not_a_zip")
            return
        if inner is None:
            yield Refused(shown=_shown(parts), reason="too_large")
            return
        yield from _archive(io.BytesIO(inner), parts, locator, len(inner), begin)


def _refusal(member: zipfile.ZipInfo, size: int) -> str | None:
    """Why a member is not looked into, or None."""
    mode = member.external_attr >> 16
    name = member.filename
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "no_regular_file"
    if name.startswith(("/", "\\")) or name[1:2] == ":":
        return "unsafe_name"
    if member.flag_bits & 0x1:
        return "encrypted"
    # Overlapping members, each as big as the whole file, are a bomb without any compression.
    if member.compress_size > size:
        return "bomb"
    if member.file_size > MAX_BYTES and member.file_size > MOST_RATIO * (member.compress_size + 1):
        return "bomb"
    return None


def _unbearable(parts: tuple[str, ...]) -> str | None:
    """Why nothing can be done with a path, however honest it is; None where something can."""
    if len(parts) > MOST_FOLDERS:
        return "too_deep"
    sizes = [len(part.encode("utf-8", "surrogatepass")) for part in parts]
    long = max(sizes, default=0) > MOST_NAME_BYTES or sum(sizes) + len(sizes) > MOST_PATH_BYTES
    return "name_too_long" if long else None


def _short(parts: tuple[str, ...]) -> str:
    """The beginning of a path, enough to know whose it is."""
    shown = "/".join(part[:_SHOWN] for part in parts[:3])
    return shown if shown == _shown(parts) else f"{shown}..."


def _inner(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    with opened.open(member) as stream:
        content = stream.read(MOST_INNER_BYTES + 1)
    return content if len(content) <= MOST_INNER_BYTES else None


def _is_litter(name: str) -> bool:
    return name.startswith(".") or name.lower() in _IGNORED_FOLDERS


def _text(name: str) -> str:
    """A name that can be printed and stored; bytes that are no UTF-8 are written out."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _shown(parts: tuple[str, ...]) -> str:
    return "/".join(parts) or "."


# --- reading -------------------------------------------------------------------------------


def _opened(path: str) -> BinaryIO:
    """The regular file at `path`; a link that has taken its place meanwhile is refused.

    Raises:
        OSError: it is not there, not readable, or no regular file.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    # A pipe that has taken its place would be waited for without end.
    flags |= getattr(os, "O_NONBLOCK", 0)
    stream = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError("no regular file")
    return stream


class Shelf:
    """Reads entries; the zip file last used stays open, because their directories are long."""

    used_s = 0.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._where: tuple[str, tuple[int, ...]] | None = None
        self._stream: BinaryIO | None = None
        self._archive: zipfile.ZipFile | None = None

    def walk(self, root: Path, *, outside: Path | None = None) -> Iterator[Entry | Refused]:
        return walk(root, outside=outside)

    def facts(self, locator: Locator, file: str, hint: str | None, known: Sequence[Known]) -> Facts:
        return facts(self.read(locator), file, hint, known)

    def read(self, locator: Locator, most: int = MAX_FILE_BYTES) -> bytes:
        """The bytes, or the first `most` + 1 of them.

        Raises:
            OSError: they cannot be read (any more).
        """
        if not locator.members:
            with _opened(locator.path) as stream:
                return stream.read(most + 1)
        try:
            with self._lock:
                archive = self._open(locator.path, locator.members[:-1])
                with archive.open(archive.infolist()[locator.members[-1]]) as member:
                    return member.read(most + 1)
        except _TROUBLE as error:
            # Not the error's own words: they may name the member, and with it the student.
            raise OSError("the zip file cannot be read") from error
        except IndexError as error:
            raise OSError("the zip file has changed") from error

    def close(self) -> None:
        """Close what is open. Idempotent."""
        archive, self._archive = self._archive, None
        stream, self._stream = self._stream, None
        self._where = None
        if archive is not None:
            archive.close()
        if stream is not None:
            stream.close()

    def _open(self, path: str, members: tuple[int, ...]) -> zipfile.ZipFile:
        if self._archive is None or self._where != (path, members):
            self.close()
            self._stream = _opened(path)
            self._archive = zipfile.ZipFile(self._stream)
            for at in members:
                content = _inner(self._archive, self._archive.infolist()[at])
                self._archive.close()
                self._archive = zipfile.ZipFile(io.BytesIO(content or b""))
            self._where = (path, members)
        return self._archive
