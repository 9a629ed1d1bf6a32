"""Files in folders and in zip files, listed and read without ever unpacking anything.

Nothing that a zip file says becomes a path of this machine: members are read from where they are,
so a name like `../../x` can do no harm, and is refused only because no honest tool writes it. What
a zip file can still do is be big; every size is bounded by what is really read, never by what its
directory claims. An upload is bounded as a whole, with every zip file that is nested in it.
"""

import io
import os
import stat
import struct
import threading
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from grader.bulk import zipnames
from grader.bulk.facts import Facts, Known, facts
from grader.submission import MAX_BYTES, MAX_FILE_BYTES
from grader.texts.names import visible

SUFFIXES: Final = (".py", ".ipynb")
# Stands, as the name of an entry, for a folder in which there is nothing.
EMPTY: Final = ""
# Zip files that are read whole, because they lie inside another one.
MOST_INNER_BYTES: Final = 64 * 1024 * 1024
# Of an outermost zip file, which may hold a class, and once more of all zip files in it together.
MOST_MEMBERS: Final = 200_000
# Of a zip file in it, which is one student's, with those nested in that.
MOST_UPLOAD_MEMBERS: Final = 20_000
MOST_UPLOAD_BYTES: Final = 128 * 1024 * 1024
# Of the list of members, outermost and below: reading it takes memory before anything is counted.
MOST_LIST_BYTES: Final = (32 * 1024 * 1024, 8 * 1024 * 1024)
MOST_RATIO: Final = 200
# A zip file hardly shrinks when it is packed into another one.
MOST_ZIP_RATIO: Final = 20
_FREE_BYTES = 1024 * 1024
# Of a name, a path below the folder that is graded, and its folders.
MOST_NAME: Final = 255
MOST_PATH: Final = 1_000
MOST_LEVELS: Final = 64
# Of what is refused in one zip file: of a class, and of a student.
_MOST_REFUSED = (5_000, 50)
# Characters of a name that is too long to be shown.
_SHOWN = 60
# Below the outermost: the zip file that a student handed in, and one in it.
MOST_NESTED: Final = 2
# The end of a zip file, with the longest comment that there can be, and the records before it.
_TAIL_BYTES = (1 << 16) + 200
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
            size = root.stat().st_size
            yield from _archive(stream, (), Locator(path=str(root)), size, _of_class(begin))


@dataclass(slots=True, kw_only=True)
class _Budget:
    """What may still come of one outermost zip file, or of one upload in it."""

    members: int
    below: int
    unpacked: int
    refusals: int
    begin: Begin


def _of_class(begin: Begin) -> _Budget:
    return _Budget(
        members=MOST_MEMBERS,
        below=MOST_MEMBERS,
        unpacked=MOST_INNER_BYTES,
        refusals=_MOST_REFUSED[0],
        begin=begin,
    )


def _of_upload(most: int, begin: Begin) -> _Budget:
    return _Budget(
        members=most,
        below=0,
        unpacked=MOST_UPLOAD_BYTES,
        refusals=_MOST_REFUSED[1],
        begin=begin,
    )


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
        here = (*parts, visible(each.name))
        if each.name == ".git" and each.is_dir(follow_symlinks=False):
            # Tells that the folder is a repository; nothing in it is looked at.
            yield Entry(parts=here, locator=Locator(path=each.path))
        elif not _is_litter(each.name):
            yield from _found(each, here, outside, begin)


def _found(
    each: "os.DirEntry[str]", here: tuple[str, ...], outside: Path | None, begin: Begin
) -> Iterator[Entry | Refused]:
    if each.is_symlink():
        yield Refused(shown=_shortened(here), reason="link")
    elif (reason := _too_much(here)) is not None:
        yield Refused(shown=_shortened(here), reason=reason)
    elif each.is_dir(follow_symlinks=False):
        path = Path(each.path)
        if outside is None or not outside.is_dir() or not path.samefile(outside):
            yield from _folder(path, here, outside, begin)
    else:
        yield from _file(each, here, begin)


def _too_much(parts: tuple[str, ...]) -> str | None:
    """Why a path is followed no further, or None."""
    if len(parts) > MOST_LEVELS:
        return "too_deep"
    if max(map(len, parts), default=0) > MOST_NAME or sum(map(len, parts)) + len(parts) > MOST_PATH:
        return "name_too_long"
    return None


def _shortened(parts: tuple[str, ...]) -> str:
    """The beginning of a path; whose it is stands there."""
    shown = "/".join(part[:_SHOWN] for part in parts[:3])
    return shown if shown == _shown(parts) else f"{shown}…"


def _file(
    found: "os.DirEntry[str]", parts: tuple[str, ...], begin: Begin
) -> Iterator[Entry | Refused]:
    if not found.is_file(follow_symlinks=False):
        yield Refused(shown=_shown(parts), reason="no_regular_file")
    elif found.name.lower().endswith(".zip"):
        try:
            with _opened(found.path) as stream:
                size = os.fstat(stream.fileno()).st_size
                yield from _archive(stream, parts, Locator(path=found.path), size, _of_class(begin))
        except OSError:
            yield Refused(shown=_shown(parts), reason="cannot_open")
    else:
        yield Entry(parts=parts, locator=Locator(path=found.path))


def _archive(
    stream: BinaryIO, parts: tuple[str, ...], locator: Locator, size: int, budget: _Budget
) -> Iterator[Entry | Refused]:
    """What is in a zip file; an empty entry where nothing in it stands for its owner."""
    stands = False
    for each in _members(stream, parts, locator, size, budget):
        stands = stands or isinstance(each, Entry) or each.reason != "unsafe_name"
        yield each
    if parts and not stands:
        yield Entry(parts=(*parts, EMPTY), locator=locator)


def _members(
    stream: BinaryIO, parts: tuple[str, ...], locator: Locator, size: int, budget: _Budget
) -> Iterator[Entry | Refused]:
    reason = budget.begin(_shown(parts))
    if reason is not None:
        yield Refused(shown=_shown(parts), reason=reason)
        return
    try:
        if _list_bytes(stream) > MOST_LIST_BYTES[bool(locator.members)]:
            yield Refused(shown=_shown(parts), reason="too_many_files")
            return
        opened = zipfile.ZipFile(stream)
        members = opened.infolist()
    except _TROUBLE:
        yield Refused(shown=_shown(parts), reason="not_a_zip")
        return
    encoding = zipnames.encoding_of_members([each for each in members if not _is_long(each)])
    wanted = list(_wanted(members, encoding))
    if len(wanted) > budget.members:
        yield Refused(shown=_shown(parts), reason="too_many_files")
        return
    budget.members -= len(wanted)
    for at, names in wanted:
        if encoding is None and not parts and not members[at].filename.isascii():
            yield Refused(shown=_shortened(names), reason="name_encoding")
            continue
        here = Locator(path=locator.path, members=(*locator.members, at))
        for each in _member(opened, members[at], (*parts, *names), here, size, budget):
            if isinstance(each, Entry):
                yield each
            elif budget.refusals > 0:
                budget.refusals -= 1
                yield each


def _wanted(
    members: Sequence[zipfile.ZipInfo], encoding: str | None
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Position and names of each member that is no litter, in the order of their names."""
    environments = {
        each.filename.rpartition("/")[0]
        for each in members
        if each.filename.endswith("/pyvenv.cfg")
    }
    repositories: set[tuple[str, ...]] = set()
    for at in sorted(range(len(members)), key=lambda at: (members[at].filename, at)):
        member = members[at]
        if _is_long(member):
            # As it stands: nothing of it is decoded, or taken apart, but the beginning.
            yield (
                at,
                tuple(visible(each) for each in member.filename[:MOST_PATH].split("/") if each),
            )
            continue
        if environments and _is_below(member.filename, environments):
            continue
        names = _names(member, encoding)
        if ".." in names or (names and not any(map(_is_litter, names))):
            yield at, names
        elif ".git" in names and names[: names.index(".git")] not in repositories:
            repositories.add(names[: names.index(".git")])
            yield at, names


def _is_long(member: zipfile.ZipInfo) -> bool:
    return len(member.filename) > 2 * MOST_PATH


def _is_below(name: str, folders: Collection[str]) -> bool:
    at = name.find("/")
    while at >= 0:
        if name[:at] in folders:
            return True
        at = name.find("/", at + 1)
    return False


def _names(member: zipfile.ZipInfo, encoding: str | None) -> tuple[str, ...]:
    whole = zipnames.name_of(member, encoding)
    return tuple(visible(part) for part in whole.split("/") if part not in ("", "."))


def _list_bytes(stream: BinaryIO) -> int:
    """How long a zip file says that its list of members is: the most of all places that say so."""
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - _TAIL_BYTES))
    tail = stream.read(_TAIL_BYTES)
    sizes = [0]
    for mark, at, form in ((b"PK\5\6", 12, "<L"), (b"PK\6\6", 40, "<Q")):
        found = tail.find(mark)
        while found >= 0:
            held = tail[found + at : found + at + struct.calcsize(form)]
            size = struct.unpack(form, held)[0] if len(held) == struct.calcsize(form) else 0
            # The largest number says that the longer record counts.
            sizes += [size] if size < 0xFFFFFFFF or form == "<Q" else []
            found = tail.find(mark, found + 1)
    stream.seek(0)
    # None has more than the whole file: that is damaged, or no such record at all.
    return max(size for size in sizes if size <= end)


def _member(
    opened: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    parts: tuple[str, ...],
    locator: Locator,
    size: int,
    budget: _Budget,
) -> Iterator[Entry | Refused]:
    reason = _too_much(parts) or ("unsafe_name" if ".." in parts else None)
    if _is_long(member):
        reason = "name_too_long"
    if reason is not None:
        yield Refused(shown=_shortened(parts), reason=reason)
    elif ".git" in parts:
        head = parts[: parts.index(".git") + 1]
        yield Entry(parts=head, locator=Locator(path=locator.path, members=locator.members[:-1]))
    elif member.is_dir():
        here = Locator(path=locator.path, members=locator.members[:-1])
        yield Entry(parts=(*parts, EMPTY), locator=here)
    elif (reason := _refusal(member, size)) is not None:
        yield Refused(shown=_shown(parts), reason=reason)
    elif not member.filename.lower().endswith(".zip"):
        yield Entry(parts=parts, locator=locator)
    elif len(locator.members) > MOST_NESTED:
        yield Refused(shown=_shown(parts), reason="nested_too_deep")
    else:
        yield from _nested(opened, member, parts, locator, budget)


def _nested(
    opened: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    parts: tuple[str, ...],
    locator: Locator,
    budget: _Budget,
) -> Iterator[Entry | Refused]:
    """What lies in a zip file within another one: an upload, or a part of one."""
    if member.file_size > MOST_ZIP_RATIO * member.compress_size + _FREE_BYTES:
        yield Refused(shown=_shown(parts), reason="bomb")
        return
    outermost = len(locator.members) == 1
    most = min(MOST_UPLOAD_MEMBERS, budget.below)
    own = _of_upload(most, budget.begin) if outermost else budget
    before = own.members
    if member.file_size > own.unpacked:
        yield Refused(shown=_shown(parts), reason="too_large")
        return
    own.unpacked -= member.file_size
    try:
        inner = _inner(opened, member)
    except _TROUBLE:
        yield Refused(shown=_shown(parts), reason="not_a_zip")
        return
    if inner is None:
        yield Refused(shown=_shown(parts), reason="too_large")
        return
    yield from _archive(io.BytesIO(inner), parts, locator, len(inner), own)
    if outermost:
        budget.below -= before - own.members


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


def _inner(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    with opened.open(member) as stream:
        content = stream.read(MOST_INNER_BYTES + 1)
    return content if len(content) <= MOST_INNER_BYTES else None


def _is_litter(name: str) -> bool:
    return name.startswith(".") or name.lower() in _IGNORED_FOLDERS


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
