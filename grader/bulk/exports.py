"""The layer of a platform: which items it wrote, and who handed in each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.bulk import gradescope, platforms
from grader.bulk.archives import Entry, is_source
from grader.bulk.moments import in_utc
from grader.bulk.platforms import METADATA, TIMESTAMP, Named
from grader.bulk.tree import Node

MOST_METADATA_BYTES: Final = 256 * 1024 * 1024
_SUBMITTED: Final = "submitted"
# Beside `submitted` in the folder of an nbgrader course.
_COURSE: Final = frozenset({"source", "release", "autograded", "feedback", "exchange"})
_COURSE_FILES: Final = frozenset({"gradebook.db", "nbgrader_config.py"})
# Microsoft Teams keeps what was turned in, and what is still being worked on, in two folders.
_TURNED_IN: Final = "submitted files"
_WORKING: Final = "working files"
# What a platform adds of its own.
_INDEX: Final = frozenset({"index.html", METADATA})

Read = Callable[[Entry, int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One item that somebody handed in, with everything in it; it speaks for nobody else.

    Args:
        owners: a group has several; none where nothing tells whose it is.
        parts: the item's path.
        layout: how it was found, a key of the texts `[bulk.layout]`.
        reason: why it has no owner, a key of the texts `[bulk.reason]`.
        receipt: it holds nothing that was handed in, but a platform's word that something was.
    """

    owners: tuple[Named, ...]
    parts: tuple[str, ...]
    entries: tuple[Entry, ...]
    layout: str
    reason: str = "no_student"
    receipt: bool = False

    @property
    def shown(self) -> str:
        return "/".join(self.parts)

    @property
    def layer(self) -> tuple[str, ...]:
        """The folder that the item lies in."""
        return self.parts[:-1]


def uploads(node: Node, read: Read) -> list[Upload] | None:
    """The items of a folder that a platform wrote, or None where none did."""
    if any(each.name == METADATA for each in node.files):
        return list(_gradescope(node, read))
    if (submitted := _submitted(node)) is not None:
        return list(_nbgrader(submitted, read))
    if (turned_in := _turned_in(node)) is not None:
        return list(_teams(node, turned_in))
    return _by_names(node)


def _turned_in(node: Node) -> Node | None:
    """The folder of Teams' that holds `<student>/<assignment>/Version 2/`."""
    found = {name.lower(): each for name, each in node.folders.items()}
    return found.get(_TURNED_IN) if found.keys() <= {_TURNED_IN, _WORKING} else None


def _teams(node: Node, turned_in: Node) -> Iterator[Upload]:
    for folder in turned_in.folders.values():
        owner = platforms.free(folder.name, file=folder.name, hint=None)
        yield _folder(folder, (owner,), "teams")
    for each in node.folders.values():
        if each is not turned_in:
            for entry in each.entries:
                yield Upload(
                    owners=(), parts=entry.parts, entries=(entry,), layout="teams", reason="draft"
                )
    yield from strays(turned_in, "teams")
    yield from strays(node, "teams")


def _gradescope(node: Node, read: Read) -> Iterator[Upload]:
    note = next(each for each in node.files if each.name == METADATA)
    known = gradescope.submitters_of(read(note, MOST_METADATA_BYTES))
    for name, folder in node.folders.items():
        owners = known.get(name) or known.get(folder.name) or ()
        yield _folder(folder, owners, "gradescope")
    yield from strays(node, "gradescope")


def is_submitted(name: str) -> bool:
    return name == _SUBMITTED


def _submitted(node: Node) -> Node | None:
    """The folder of nbgrader's that holds `<student>/<assignment>/`, in the course or by itself."""
    if is_submitted(node.name):
        return node
    inside = next((each for each in node.folders.values() if is_submitted(each.name)), None)
    course = _COURSE & node.folders.keys() or _COURSE_FILES & {each.name for each in node.files}
    return inside if inside is not None and (course or len(node.folders) == 1) else None


def _nbgrader(submitted: Node, read: Read) -> Iterator[Upload]:
    for student, folder in submitted.folders.items():
        for assignment, work in folder.folders.items():
            written = next((each for each in work.files if each.name == TIMESTAMP), None)
            text = read(written, 200) if written is not None else ""
            moment = in_utc(text) if text else None
            owner = Named(
                student=student,
                file=assignment,
                hint=assignment,
                submitted_at=moment,
                system="nbgrader",
                undated=bool(text) and moment is None,
            )
            entries = tuple(each for each in work.entries if each is not written)
            yield Upload(owners=(owner,), parts=work.parts, entries=entries, layout="nbgrader")
        yield from strays(folder, "nbgrader")
    yield from strays(submitted, "nbgrader")


def _by_names(node: Node) -> list[Upload] | None:
    """By the rule that reads most of the names here, and more than half of those that matter."""
    items: list[tuple[str, Node | Entry]] = [
        *((folder.name, folder) for folder in node.folders.values()),
        *((each.name, each) for each in node.files if each.name not in _INDEX),
    ]
    best, found = "", dict[int, Named]()
    for rule in platforms.RULES:
        read = _read_by(rule, items)
        if len(read) > len(found):
            best, found = rule, read
    matter = sum(
        at in found or isinstance(item, Node) or is_source(item.name)
        for at, (_, item) in enumerate(items)
    )
    if 2 * len(found) <= matter:
        return None
    layout = "nbgrader" if best == "exchange" else best
    made = []
    for at, (_, item) in enumerate(items):
        owners = (found[at],) if at in found else ()
        if isinstance(item, Node):
            # Moodle's online texts are handed in beside the files, in a folder of their own.
            made.append(_folder(item, owners, layout))
        else:
            made.append(_file(item, owners, layout))
    return made


def _read_by(rule: str, items: Sequence[tuple[str, Node | Entry]]) -> dict[int, Named]:
    plain = {
        at: named
        for at, (name, item) in enumerate(items)
        if (named := platforms.RULES[rule](name, folder=isinstance(item, Node))) is not None
    }
    whole = {"canvas": platforms.canvas_groups, "blackboard": platforms.of_blackboard}.get(rule)
    if whole is None:
        return plain
    groups = whole([name for name, _ in items])
    return {
        at: named
        for at, (name, _) in enumerate(items)
        if (named := groups.get(name) or plain.get(at)) is not None
    }


def _folder(node: Node, owners: tuple[Named, ...], layout: str) -> Upload:
    return Upload(owners=owners, parts=node.parts, entries=node.entries, layout=layout)


def _file(entry: Entry, owners: tuple[Named, ...], layout: str) -> Upload:
    receipt = layout == "blackboard" and any(each.file == entry.name for each in owners)
    return Upload(
        owners=owners, parts=entry.parts, entries=(entry,), layout=layout, receipt=receipt
    )


def strays(node: Node, layout: str) -> Iterator[Upload]:
    """What lies beside the items of a layer: nobody's."""
    for each in node.files:
        if each.name not in _INDEX and each.name != TIMESTAMP:
            yield Upload(owners=(), parts=each.parts, entries=(each,), layout=layout)
