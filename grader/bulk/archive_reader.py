"""Reads what arrived, folders and zip files with everything in them, in a reader's process.

What one student handed in may end that process; the item that it died of is named and left out, and
the next process goes on with the others. `Shelf` answers the same questions in the process itself.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Protocol

from grader import submission
from grader.bulk import facts as facts_of
from grader.bulk.archives import Entry, Locator, Refused, Shelf, walk
from grader.bulk.facts import Facts, Known
from grader.model import OpenedFile, Reading, Submission
from grader.plain import reading_from
from grader.reader import serve
from grader.reader.client import Reader, Stopped, unread
from grader.submission import MAX_FILE_BYTES

# The names of so many files in one message.
_AT_ONCE: Final = 500
_PROGRAM: Final = "from grader.bulk.archive_reader import main; main()"


class Files(Protocol):
    """What has to be known of everything that arrived."""

    @property
    def used_s(self) -> float:
        """Processor time that the last question took."""

    def walk(self, root: Path, *, outside: Path | None = None) -> Iterator[Entry | Refused]: ...

    def read(self, locator: Locator, most: int = MAX_FILE_BYTES) -> bytes: ...

    def facts(
        self, locator: Locator, file: str, hint: str | None, known: Sequence[Known]
    ) -> Facts: ...


class ArchiveReader:
    """Asks a reader about files by their locators. Closing it ends the process."""

    def __init__(self) -> None:
        self._reader = Reader(_PROGRAM)

    @property
    def used_s(self) -> float:
        """Processor time that the last question took."""
        return self._reader.used_s

    def close(self) -> None:
        self._reader.close()

    def walk(self, root: Path, *, outside: Path | None = None) -> Iterator[Entry | Refused]:
        """Every file below a folder or in a zip file; see `archives.walk`."""
        skipped: dict[str, str] = {}
        suspected: set[str] = set()
        while True:
            listing = _Listing()
            asked = {
                # The reader works elsewhere.
                "root": str(root.absolute()),
                "outside": str(outside.absolute()) if outside is not None else None,
                "skipped": skipped,
            }
            try:
                self._reader.ask_once("walk", asked, hear=listing.hear)
            except Stopped as stopped:
                if listing.begun in skipped:
                    raise
                # From the start, without what it died of: most of the time nothing dies.
                if stopped.certain or listing.begun in suspected:
                    skipped[listing.begun] = f"reading_{stopped.reason}"
                suspected.add(listing.begun)
                continue
            yield from listing.found
            return

    def read(self, locator: Locator, most: int = MAX_FILE_BYTES) -> bytes:
        """The bytes, or the first `most` + 1 of them.

        Raises:
            OSError: they cannot be read (any more).
        """
        return self._bytes("read", {"locator": asdict(locator), "most": most})

    def without_outputs(self, locator: Locator, handed_in: Submission) -> OpenedFile:
        """The planned file, of a notebook without plots.

        Raises:
            OSError: it cannot be read any more, or is another one by now.
        """
        asked = {"locator": asdict(locator), "submission": asdict(handed_in)}
        return OpenedFile(submission=handed_in, content=self._bytes("without_outputs", asked))

    def understand(
        self, locator: Locator, handed_in: Submission, names: Collection[str]
    ) -> Reading:
        """What can be understood of the planned file.

        Raises:
            OSError: it cannot be read any more, or is another one by now.
        """
        asked = {
            "locator": asdict(locator),
            "submission": asdict(handed_in),
            "names": sorted(names),
        }
        try:
            return reading_from(self._reader.ask("understand", asked))
        except Stopped as stopped:
            return unread(handed_in, stopped.reason)

    def facts(self, locator: Locator, file: str, hint: str | None, known: Sequence[Known]) -> Facts:
        """What a file says of itself; see `facts.facts`.

        Raises:
            OSError: it cannot be read.
            Stopped: not even its bytes could be got at.
        """
        asked = {
            "locator": asdict(locator),
            "file": file,
            "hint": hint,
            "known": [asdict(each) for each in known],
        }
        try:
            return facts_of.from_plain(self._reader.ask("facts", asked))
        except Stopped as stopped:
            if not stopped.parts:
                raise
            return facts_of.of_unread(file, hint, known, stopped.parts[0], stopped.reason)

    def _bytes(self, what: str, asked: Mapping[str, object]) -> bytes:
        try:
            return self._reader.ask(what, asked) or b""
        except Stopped as stopped:
            raise OSError(f"reading it was given up ({stopped.reason})") from stopped


class _Listing:
    """What was told of a walk so far."""

    def __init__(self) -> None:
        self.begun = "."
        self.found: list[Entry | Refused] = []

    def hear(self, now: str, value: Any) -> None:
        if now == "begun":
            self.begun = value
            return
        for parts, path, members, reason in value:
            if reason is not None:
                self.found.append(Refused(shown="/".join(parts), reason=reason))
            else:
                locator = Locator(path=path, members=tuple(members))
                self.found.append(Entry(parts=tuple(parts), locator=locator))


# --- in the reader's process -----------------------------------------------------------------


def main() -> None:
    """Answer questions about files until the asker is gone."""
    shelf = Shelf()
    serve.main(
        {
            "walk": _walked,
            "read": lambda question: shelf.read(_locator(question), question.args["most"]),
            "without_outputs": lambda question: (
                submission.without_outputs(_planned(question, shelf)).content
            ),
            "understand": lambda question: submission.understand(
                _planned(question, shelf), names=question.args["names"]
            ),
            "facts": lambda question: _facts(question, shelf),
        }
    )


def _walked(question: serve.Question) -> None:
    outside = question.args["outside"]
    rows: list[tuple[Any, ...]] = []

    def begin(shown: str) -> str | None:
        reason: str | None = question.args["skipped"].get(shown)
        if reason is None:
            question.say("begun", shown)
        return reason

    for each in walk(
        Path(question.args["root"]),
        outside=Path(outside) if outside is not None else None,
        begin=begin,
    ):
        if isinstance(each, Refused):
            rows.append((each.shown.split("/"), "", (), each.reason))
        else:
            rows.append((each.parts, each.locator.path, each.locator.members, None))
        if len(rows) == _AT_ONCE:
            question.say("part", rows)
            rows = []
    question.say("part", rows)


def _locator(question: serve.Question) -> Locator:
    raw = question.args["locator"]
    return Locator(path=raw["path"], members=tuple(raw["members"]))


def _planned(question: serve.Question, shelf: Shelf) -> OpenedFile:
    handed_in = Submission(**question.args["submission"])
    content = shelf.read(_locator(question))
    if facts_of.digest(content) != handed_in.sha256:
        raise OSError("the file has changed since this run began")
    return OpenedFile(submission=handed_in, content=content)


def _facts(question: serve.Question, shelf: Shelf) -> Facts:
    content = shelf.read(_locator(question))
    # Known before the file is looked into, which this process may not survive.
    question.say("part", facts_of.digest(content))
    known = [Known.from_plain(each) for each in question.args["known"]]
    return facts_of.facts(content, question.args["file"], question.args["hint"], known)
