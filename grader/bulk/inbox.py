"""What arrived: every file that may be a submission, and whose it is.

The folder is read from the outside in (`layers`). The outermost layer that names owners decides,
once: each item of it, a file, a folder or a zip file, belongs to its owner with everything in it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from unicodedata import normalize

from grader.bulk import labels, layers, platforms
from grader.bulk.archive_reader import Files
from grader.bulk.archives import MOST_NAME, Entry, Locator, Refused, is_source
from grader.bulk.exports import Upload, is_submitted
from grader.bulk.layers import Rules
from grader.bulk.platforms import Named
from grader.bulk.tree import Node, grown
from grader.texts.names import visible

# What stands for something handed in, although it is no submission.
_DOCUMENTS: Final = (
    *(".doc", ".docx", ".odt", ".pdf", ".rtf", ".txt", ".html", ".htm", ".rar", ".7z", ".tar"),
    *(".gz", ".tgz", ".bz2", ".xz", ".png", ".jpg", ".jpeg", ".heic", ".pages", ".md", ".ipynb_"),
    *(".url", ".webloc", ".pyc", ".wps", ".pptx", ".zip"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A script or notebook, and who handed it in.

    Args:
        named: None when nothing tells whose it is.
        upload: the path of the item that it came in.
        inner: its path in that item; its name where the file is the item.
        layer: the folder in which the item's owner was found; equal ids in two are two claims.
    """

    entry: Entry
    named: Named | None
    upload: str = ""
    inner: tuple[str, ...] = ()
    layer: tuple[str, ...] = ()
    reason: str = "no_student"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sourceless:
    """Somebody who handed in something, but no script or notebook; None where nobody is named."""

    named: Named | None
    shown: str
    layer: tuple[str, ...] = ()
    reason: str = "no_source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """How many students were found in one way; `layout` is a key of the texts `[bulk.layout]`.

    Args:
        files: scripts and notebooks; what a group handed in counts once.
        groups: whether one of them has several owners.
    """

    layout: str
    students: int
    files: int
    groups: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """Everything that was found.

    Args:
        uploads: the paths of all items that somebody handed in.
    """

    arrived: tuple[Arrived, ...]
    refused: tuple[Refused, ...]
    sourceless: tuple[Sourceless, ...]
    understood: tuple[Understood, ...] = ()
    uploads: tuple[str, ...] = ()


def look(root: Path, files: Files, rules: Rules, *, outside: Path | None = None) -> Inbox:
    """What lies in a folder or zip file; nothing is opened but the platforms' own notes.

    Raises:
        UsageProblem: several students could become one, or one several; it names the option.
    """
    entries: list[Entry] = []
    refused: list[Refused] = []
    for each in files.walk(root, outside=outside):
        if isinstance(each, Refused):
            refused.append(each)
        else:
            entries.append(each)
    tree = grown([*entries, *_named(refused)])
    if is_submitted(root.name) or is_submitted(root.stem):
        # nbgrader's folder itself was named.
        tree = Node(parts=(), folders={"submitted": _moved(tree)})

    def read(entry: Entry, most: int) -> str:
        try:
            return files.read(entry.locator, most).decode("utf-8-sig", "replace")
        except OSError:
            return ""

    told = {each.shown: each.reason for each in refused}
    uploads = _normal(layers.uploads(tree, rules, read))
    layer_of = _layers(uploads, rules)
    arrived = tuple(
        each
        for upload in uploads
        for each in _arrived(upload, layer_of)
        if each.entry.shown not in told
    )
    return Inbox(
        arrived=arrived,
        refused=tuple(refused),
        sourceless=tuple(_sourceless(uploads, told, layer_of)),
        understood=_understood(arrived, uploads),
        uploads=tuple(each.shown for each in uploads),
    )


def _moved(tree: Node) -> Node:
    """The tree as the folder `submitted` of a course; its files keep their paths."""
    return replace(tree, parts=("submitted",)) if not tree.parts else tree


def _layers(uploads: Sequence[Upload], rules: Rules) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Each layer without the folders named after an assignment: the same people in all of them."""
    return {
        each.layer: ()
        # The pattern is the staff's own word, wherever it finds somebody.
        if rules.pattern is not None
        else tuple(part for part in each.layer if part.lower() not in rules.ids)
        for each in uploads
    }


def _arrived(upload: Upload, layer_of: dict[tuple[str, ...], tuple[str, ...]]) -> list[Arrived]:
    found = []
    for entry in upload.entries:
        if not is_source(entry.name):
            continue
        inner = entry.parts[len(upload.parts) :]
        whole = Arrived(
            entry=entry,
            named=None,
            upload=upload.shown,
            inner=inner or (entry.name,),
            layer=layer_of[upload.layer],
            reason=upload.reason,
        )
        if not upload.owners:
            found.append(whole)
        for owner in upload.owners:
            named = platforms.of_file(owner, entry.name) if inner else owner
            own = inner or (named.file,)
            found.append(replace(whole, named=named, inner=own))
    return found


def _sourceless(
    uploads: Sequence[Upload],
    told: Mapping[str, str],
    layer_of: dict[tuple[str, ...], tuple[str, ...]],
) -> list[Sourceless]:
    """A row for each item without a script or notebook, of somebody who handed in no other."""
    found: list[Sourceless] = []
    working = {
        owner.student for each in uploads for owner in each.owners if _has_source(each, told)
    }
    for each in uploads:
        if _has_source(each, told):
            continue
        reason = told.get(each.shown, "no_source")
        layer = layer_of[each.layer]
        if not each.owners or not _stands_for_somebody(each):
            if _is_document(each.parts[-1]) and each.shown not in told:
                found.append(Sourceless(named=None, shown=each.shown, layer=layer))
            continue
        found += [
            Sourceless(named=owner, shown=each.shown, layer=layer, reason=reason)
            for owner in each.owners
            if owner.student not in working
        ]
    return found


def _has_source(upload: Upload, told: Mapping[str, str]) -> bool:
    return any(is_source(each.name) and each.shown not in told for each in upload.entries)


def _named(refused: Sequence[Refused]) -> list[Entry]:
    """What is not looked into, as files: whoever handed it in must not vanish."""
    return [
        Entry(parts=tuple(each.shown.split("/")), locator=Locator(path=""))
        for each in refused
        if each.shown != "." and each.reason != "unsafe_name"
    ]


def _stands_for_somebody(upload: Upload) -> bool:
    """Whether an item is a submission: on a platform each is, elsewhere folders and documents."""
    is_file = len(upload.entries) == 1 and upload.entries[0].parts == upload.parts
    if upload.layout not in ("files", "folders") or not is_file:
        return True
    return _is_document(upload.parts[-1])


def _is_document(name: str) -> bool:
    return name.lower().endswith(_DOCUMENTS) and not labels.is_generic(
        name.rpartition(".")[0].replace("README", "notes")
    )


def _understood(arrived: Sequence[Arrived], uploads: Sequence[Upload]) -> tuple[Understood, ...]:
    layout_of = {each.shown: each.layout for each in uploads}
    students: dict[str, set[str]] = {}
    files: dict[str, Counter[tuple[str, ...]]] = {}
    for each in arrived:
        if each.named is not None:
            layout = layout_of[each.upload]
            students.setdefault(layout, set()).add(each.named.student)
            files.setdefault(layout, Counter())[each.upload, *each.inner] += 1
    return tuple(
        Understood(
            layout=layout,
            students=len(known),
            files=len(files[layout]),
            groups=max(files[layout].values()) > 1,
        )
        for layout, known in students.items()
    )


def _written(name: str) -> str:
    """As it is stored and shown, of `MOST_NAME` characters at most: a platform's file may lie."""
    return visible(normalize("NFC", name[: 4 * MOST_NAME]))[:MOST_NAME].strip()


def _normal(uploads: Sequence[Upload]) -> list[Upload]:
    """With ids that are the same however a file system composes their letters.

    Two ids of one platform that differ in no more than that stay two.
    """
    raw = {(each.system, each.student) for upload in uploads for each in upload.owners}
    return [
        replace(upload, owners=tuple(_composed(each, raw) for each in upload.owners))
        for upload in uploads
    ]


def _composed(owner: Named, raw: Set[tuple[str, str]]) -> Named:
    student = _written(owner.student) or "?"
    if student != owner.student and (owner.system, student) in raw:
        student = visible(owner.student[:MOST_NAME])
    name = _written(owner.name) or None if owner.name else None
    return replace(owner, student=student, name=name)
