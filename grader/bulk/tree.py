"""What arrived, as a tree of folders; a zip file counts as a folder."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from grader.bulk.archives import EMPTY, Entry, is_source

REPOSITORY: Final = ".git"


@dataclass(slots=True, kw_only=True)
class Node:
    """A folder: what lies in it, and whether it is a cloned repository."""

    parts: tuple[str, ...]
    folders: dict[str, "Node"] = field(default_factory=dict)
    files: list[Entry] = field(default_factory=list)
    repository: bool = False

    @property
    def name(self) -> str:
        """The folder's own name, of a zip file without its ending."""
        last = self.parts[-1] if self.parts else ""
        return last[:-4] if last.lower().endswith(".zip") else last

    @property
    def works(self) -> list[Entry]:
        """The scripts and notebooks that lie directly here."""
        return [each for each in self.files if is_source(each.name)]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every file in it, however deep."""
        return tuple(_below(self))

    @property
    def has_work(self) -> bool:
        return any(is_source(each.name) for each in _below(self))


def grown(entries: Iterable[Entry]) -> Node:
    """The tree of all entries."""
    root = Node(parts=())
    for entry in entries:
        node = root
        for part in entry.parts[:-1]:
            node = node.folders.setdefault(part, Node(parts=(*node.parts, part)))
        if entry.name == REPOSITORY:
            node.repository = True
        elif entry.name != EMPTY:
            node.files.append(entry)
    return root


def joined(parts: Iterable[Node], above: Node) -> Node:
    """The parts of one download as one folder."""
    whole = Node(parts=above.parts)
    for part in parts:
        _pour(part, whole)
    return whole


def _pour(source: Node, into: Node) -> None:
    into.files += source.files
    into.repository = into.repository or source.repository
    for name, folder in source.folders.items():
        if name in into.folders:
            _pour(folder, into.folders[name])
        else:
            into.folders[name] = folder


def _below(node: Node) -> Iterator[Entry]:
    # Not by recursion: a folder may be nested as deep as a path is long.
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield from here.files
        waiting += reversed(here.folders.values())
