"""What arrived: every file that may be a submission, and whose it is."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from grader.bulk import platforms
from grader.bulk.archives import Entry, Refused, Shelf, is_source, walk
from grader.bulk.moments import in_utc
from grader.bulk.platforms import METADATA, TIMESTAMP, Clues, Named

_MOST_METADATA_BYTES = 256 * 1024 * 1024
_COPY = re.compile(r"\(\d+\)|-\s*Copy\s*\d*$|^Copy of\b|- 副本$", re.IGNORECASE)
_WORDS = re.compile(r"(?<![^\W_])(?:homework|assignment|hw|作业)[\W_]*\d*(?![^\W_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A script or notebook, and who handed it in.

    Args:
        named: None when nothing tells whose it is.
        in_repository: it lies in a cloned repository, beside files that are no submissions.
    """

    entry: Entry
    named: Named | None
    in_repository: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """Everything that was found.

    Args:
        without_source: for each student who handed in files, but no script or notebook: those.
    """

    arrived: tuple[Arrived, ...]
    refused: tuple[Refused, ...]
    without_source: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How names are read where no platform wrote them.

    Args:
        pattern: finds the student in the path (group `student`, or the first group).
        ids: of the assignments that are graded.
    """

    pattern: re.Pattern[str] | None = None
    ids: Collection[str] = ()


def look(root: Path, shelf: Shelf, rules: Rules, *, outside: Path | None = None) -> Inbox:
    """What lies in a folder or zip file; nothing is opened but the platforms' own notes."""
    entries: list[Entry] = []
    refused: list[Refused] = []
    for each in walk(root, outside=outside):
        if isinstance(each, Refused):
            refused.append(each)
        else:
            entries.append(each)
    repositories = {each.parts[:-1] for each in entries if each.name == ".git"} - {()}
    files = [each for each in entries if each.name != ".git"]
    clues = _clues(root, files, shelf)
    reader = _Reader(rules=rules, clues=clues, wrapper=_wrapper(files), repositories=repositories)
    return _sorted_out(files, refused, reader)


def _sorted_out(files: Sequence[Entry], refused: Sequence[Refused], reader: "_Reader") -> Inbox:
    arrived: list[Arrived] = []
    others: dict[str, str] = {}
    for entry in files:
        whose = reader.named(entry.parts)
        if not is_source(entry.name):
            if entry.name not in (METADATA, TIMESTAMP) and reader.is_personal(entry.parts):
                others |= {each.student: entry.shown for each in whose or ()}
            continue
        in_repository = reader.repository(entry.parts) is not None
        if whose is None:
            arrived.append(Arrived(entry=entry, named=None, in_repository=in_repository))
        arrived += [
            Arrived(entry=entry, named=each, in_repository=in_repository) for each in whose or ()
        ]
    with_source = {each.named.student for each in arrived if each.named is not None}
    return Inbox(
        arrived=tuple(arrived),
        refused=tuple(refused),
        without_source=tuple(
            (student, shown) for student, shown in others.items() if student not in with_source
        ),
    )


def _clues(root: Path, files: Iterable[Entry], shelf: Shelf) -> Clues:
    gradescope: dict[tuple[str, ...], tuple[Named, ...]] = {}
    timestamps: dict[tuple[str, ...], str] = {}
    for entry in files:
        if entry.name == METADATA:
            text = _text(shelf, entry, _MOST_METADATA_BYTES)
            for folder, submitters in platforms.gradescope(text).items():
                gradescope[(*entry.parts[:-1], folder)] = submitters
        elif entry.name == TIMESTAMP and len(entry.parts) > 2:
            moment = in_utc(_text(shelf, entry, 200))
            if moment is not None:
                timestamps[entry.parts[:-1]] = moment
    if root.name == "submitted":
        # nbgrader's folder itself was named: the rule looks for it in the path.
        for entry in files:
            if len(entry.parts) > 2:
                timestamps.setdefault(entry.parts[:2], "")
    return Clues(gradescope=gradescope, timestamps=timestamps)


def _text(shelf: Shelf, entry: Entry, most: int) -> str:
    try:
        return shelf.read(entry.locator, most).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _wrapper(files: Sequence[Entry]) -> int:
    """1 when everything lies in the folders of one folder, as zip tools like it; else 0."""
    heads = {each.parts[0] for each in files if len(each.parts) > 1}
    sources = [each for each in files if is_source(each.name)]
    deep = sources and all(len(each.parts) > 2 for each in sources)
    return 1 if len(heads) == 1 and deep else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    rules: Rules
    clues: Clues
    wrapper: int
    repositories: Collection[tuple[str, ...]]

    def named(self, parts: tuple[str, ...]) -> tuple[Named, ...] | None:
        """Who handed in the file; None when nothing tells."""
        known = platforms.named(parts, self.clues)
        if known is not None:
            return tuple(_normal(each) for each in known)
        student, hint = self._student(parts)
        if not student:
            return None
        copy = platforms.copy_number(parts[-1])
        return (_normal(Named(student=student, file=parts[-1], hint=hint, copy=copy)),)

    def is_personal(self, parts: tuple[str, ...]) -> bool:
        """Whether a file that is no submission stands for one: an exam answer as .txt, say."""
        if len(self._folders(parts)) > 0 or platforms.named(parts, self.clues):
            return True
        return any(_mentions(parts[-1], id_) for id_ in self.rules.ids)

    def repository(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        return next(
            (parts[:end] for end in range(len(parts)) if parts[:end] in self.repositories), None
        )

    def _student(self, parts: tuple[str, ...]) -> tuple[str | None, str | None]:
        folders = self._folders(parts)
        hint = next((each for each in parts[:-1] if each.lower() in self.rules.ids), None)
        if self.rules.pattern is not None:
            found = self.rules.pattern.search("/".join(parts))
            return (_group(found) if found else None), hint
        repository = self.repository(parts)
        if repository:
            return self._of_repository(repository), hint
        if folders:
            name = folders[0].removesuffix(".zip")
            return student_in(name, self.rules.ids) or name, hint
        return student_in(parts[-1].rpartition(".")[0], self.rules.ids), hint

    def _folders(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        inside = parts[self.wrapper : -1]
        return tuple(each for each in inside if each.lower() not in self.rules.ids)

    def _of_repository(self, repository: tuple[str, ...]) -> str:
        """`octocat` of `hw4-octocat`: what all repositories beside it begin with is left out."""
        name = repository[-1]
        above = repository[-2].removesuffix("-submissions") if len(repository) > 1 else ""
        prefixes = [f"{each}-" for each in (above, *self.rules.ids) if each]
        beside = [each[-1] for each in self.repositories if each[:-1] == repository[:-1] and each]
        if len(beside) > 1:
            prefixes.append(_common(beside))
        known = next((each for each in prefixes if each and name.lower().startswith(each)), "")
        return name[len(known) :] or name


def student_in(stem: str, ids: Collection[str]) -> str | None:
    """`lee` of `lee_hw1` and `Smith, Jo` of `Smith, Jo hw1 (2)`; None when nothing is left."""
    rest = _COPY.sub(" ", stem)
    for id_ in sorted(ids, key=len, reverse=True):
        rest = _mention(id_).sub(" ", rest)
    rest = _WORDS.sub(" ", rest)
    return re.sub(r"^[\s_.,;-]+|[\s_.,;-]+$", "", rest) or None


def _mentions(name: str, id_: str) -> bool:
    return _mention(id_).search(name.rpartition(".")[0]) is not None


def _mention(id_: str) -> re.Pattern[str]:
    letters = id_.rstrip("0123456789")
    digits = id_[len(letters) :]
    spelt = r"[\W_]*".join(re.escape(part) for part in re.split(r"[\W_]+", letters) if part)
    number = rf"[\W_]*0*{int(digits)}(?!\d)" if digits else r"(?![^\W\d_])"
    return re.compile(rf"(?<![^\W_]){spelt}{number}", re.IGNORECASE)


def _group(found: re.Match[str]) -> str | None:
    groups = found.groupdict()
    if "student" in groups:
        return groups["student"]
    return found.group(1) if found.re.groups else found.group(0)


def _common(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    length = next(
        (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )
    return first[: first[:length].rfind("-") + 1].lower()


def _normal(named: Named) -> Named:
    """With an id that is the same however a file system composes its letters."""
    student = normalize("NFC", named.student).strip()
    name = normalize("NFC", named.name).strip() if named.name else None
    return Named(
        student=student or "?",
        name=name,
        file=named.file,
        hint=named.hint,
        late=named.late,
        submitted_at=named.submitted_at or None,
        copy=named.copy,
    )
