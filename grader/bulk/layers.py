"""Where in a folder the students begin, decided once, at the outermost layer that tells.

Above that layer there are folders that hold the class: a zip tool's wrapper, sections, the parts
of a download, one folder for each assignment. Below it everything belongs to the item's owner,
whatever it is called: what a student can write never names another one.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from grader.bulk import exports, labels
from grader.bulk.archives import Entry
from grader.bulk.exports import Read, Upload
from grader.bulk.platforms import Named, System, free
from grader.bulk.tree import Node, joined
from grader.errors import UsageProblem
from grader.texts import catalog

Layout = Literal["auto", "files", "folders", "sections"]
Kind = Literal["student", "class", "unclear", "empty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How names are read where no platform wrote them.

    Args:
        pattern: finds the student in the path (group `student`, or the first group).
        ids: of the assignments that are graded.
        layout: what the folder holds where names leave it open: one file for each student,
            one folder for each, or one folder for each section of the class.
    """

    pattern: re.Pattern[str] | None = None
    ids: Collection[str] = ()
    layout: Layout = "auto"


def uploads(root: Node, rules: Rules, read: Read) -> list[Upload]:
    """Every item that was handed in, and what lies beside them.

    Raises:
        UsageProblem: it could as well be students' folders as folders with a class in each.
    """
    return list(_Reader(rules=rules, read=read).descend(root, None, depth=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    rules: Rules
    read: Read

    def descend(self, node: Node, hint: str | None, depth: int) -> Iterator[Upload]:
        """The items of a folder that is nobody's own."""
        found = exports.uploads(node, self.read) if self.rules.layout == "auto" else None
        if found is not None:
            yield from found
            return
        if self.rules.pattern is not None:
            yield from self._by_pattern(node, self.rules.pattern)
            return
        whole = self._joined(node)
        if whole is not node:
            yield from self.descend(whole, hint, depth)
            return
        named = [each for each in node.folders.values() if self._assignment(each)]
        others = [each for each in node.folders.values() if not self._assignment(each)]
        for each in named:
            yield from self.descend(each, self._assignment(each), depth)
        if others and self._hold_classes(others, node, depth):
            for each in others:
                yield from self.descend(each, hint, depth + 1)
            others = []
        elif self.rules.layout == "files":
            yield from self._files_below(node, named, hint)
            return
        numbers = labels.numbers_among((each.name for each in others), self.rules.ids)
        for each in others:
            if labels.is_late(each.name) and self._people(each):
                yield from self.descend(each, hint, depth + 1)
            elif labels.is_nobodys(each.name) and len(others) > 1:
                yield Upload(owners=(), parts=each.parts, entries=each.entries, layout="folders")
            else:
                yield self._of_folder(each, node, others, hint, numbers)
        yield from self._of_files(node, hint, beside=bool(others))

    # --- folders that hold a class -----------------------------------------------------------

    def _joined(self, node: Node) -> Node:
        """With the parts of one download as one."""
        heads = {name: labels.part_of(name) for name in node.folders}
        known = {each for each in heads.values() if each is not None}
        if len(node.folders) < 2 or None in heads.values() or len(known) != 1:
            return node
        whole = joined(node.folders.values(), node)
        whole.files += node.files
        return whole

    def _assignment(self, node: Node) -> str | None:
        return node.name.lower() if node.name.lower() in self.rules.ids else None

    def _hold_classes(self, folders: Sequence[Node], above: Node, depth: int) -> bool:
        layout = self.rules.layout
        if layout != "auto":
            wrapper = len(folders) == 1 and not folders[0].works and not above.works
            return (layout == "sections" and depth == 0) or (wrapper and depth == 0)
        kinds = [self._kind(each) for each in folders]
        if len(folders) == 1 and not above.works:
            return self._wraps(folders[0], kinds[0])
        if all(labels.is_section(each.name) or labels.is_download(each.name) for each in folders):
            return True
        classes = kinds.count("class")
        if "student" in kinds or not classes:
            return False
        if classes == len(kinds):
            return True
        if 2 * classes >= len(kinds):
            at = kinds.index("class")
            names = self._examples(folders[at])[:3]
            folder = "/".join(folders[at].parts)
            raise UsageProblem(catalog.text("bulk.which_layout", folder=folder, names=names))
        return False

    def _wraps(self, folder: Node, kind: Kind) -> bool:
        """Whether the one folder that there is was put around the class."""
        named = labels.student_in(folder.name, self.rules.ids) is not None
        if not named or labels.is_download(folder.name):
            return True
        if kind in ("class", "student"):
            return kind == "class"
        inner = [each for each in folder.folders.values() if each.has_work]
        return not folder.works and len(inner) == 1 and not self._is_given(inner[0].name)

    def _kind(self, folder: Node) -> Kind:
        """What a folder looks like: one student's, one with several students in it, or neither."""
        if not folder.has_work:
            return "empty"
        if folder.repository:
            return "student"
        if self._has_layer(folder) or len(self._handed_in(folder)) > 1 or self._in_parts(folder):
            return "class"
        own = labels.student_in(folder.name, self.rules.ids) or folder.name
        folder = self._innermost(folder)
        works = [each for each in folder.works if labels.role((each.name,)) == "work"]
        names = [labels.student_in(_stem(each.name), self.rules.ids) for each in works]
        if any(name is None or _words(name) <= _words(own) for name in names):
            return "student"
        if not names and all(self._is_given(each) for each in folder.folders):
            return "student"
        return "class" if len(self._people(folder)) > 1 else "unclear"

    def _in_parts(self, folder: Node) -> bool:
        """Whether a folder holds sections with students' folders in each."""
        inner = [each for each in folder.folders.values() if each.has_work]
        return (
            bool(inner)
            and not folder.works
            and all(labels.is_section(each.name) for each in inner)
            and any(self._handed_in(each) for each in inner)
        )

    def _examples(self, folder: Node) -> list[str]:
        """Names that may be those of several people, for the sentence that asks."""
        return self._people(self._innermost(folder)) or [each.name for each in folder.entries]

    def _innermost(self, folder: Node) -> Node:
        """Below folders that hold one folder with nobody's name, and nothing else."""
        while not folder.works and len(folder.folders) == 1:
            (inner,) = folder.folders.values()
            if not self._is_given(inner.name):
                break
            folder = inner
        return folder

    def _has_layer(self, folder: Node) -> bool:
        found = exports.uploads(folder, lambda entry, most: self.read(entry, most))
        return found is not None and any(each.owners for each in found)

    def _people(self, folder: Node) -> list[str]:
        """Who could have handed in what lies in a folder, by the names there."""
        if folder.works:
            stems = [_stem(each.name) for each in folder.works]
        else:
            stems = [each.name for each in folder.folders.values() if each.has_work]
            stems = [each for each in stems if not self._is_given(each)]
        found = [labels.student_in(each, self.rules.ids) for each in stems]
        return list(dict.fromkeys(each for each in found if each))

    def _handed_in(self, folder: Node) -> list[Node]:
        """Folders with a name of their own in each of which lies a file named as an assignment."""
        return [
            each
            for each in folder.folders.values()
            if not self._is_given(each.name)
            and any(
                labels.mentions(work.name, id_) for work in each.works for id_ in self.rules.ids
            )
        ]

    def _is_given(self, name: str) -> bool:
        """Whether a folder's name is one that students use inside of their own."""
        return name.lower() in self.rules.ids or labels.student_in(name, self.rules.ids) is None

    # --- items -------------------------------------------------------------------------------

    def _of_folder(
        self,
        folder: Node,
        above: Node,
        beside: Sequence[Node],
        hint: str | None,
        numbers: Collection[str],
    ) -> Upload:
        repositories = [each.name for each in beside if each.repository]
        cloned = folder.repository or above.name.endswith("-submissions")
        system: System = "github" if cloned else "free"
        if cloned:
            student = _of_repository(folder.name, above.name, repositories, self.rules.ids)
        else:
            student = labels.student_in(folder.name, self.rules.ids, numbers) or folder.name
        owner = free(student, file=folder.name, hint=hint, system=system, numbers=numbers)
        layout = "clones" if cloned else "folders"
        return Upload(owners=(owner,), parts=folder.parts, entries=folder.entries, layout=layout)

    def _of_files(self, node: Node, hint: str | None, *, beside: bool) -> Iterator[Upload]:
        working = [each for each in node.folders.values() if each.has_work]
        taken = {labels.student_in(each.name, self.rules.ids) for each in working}
        numbers = labels.numbers_among((_stem(each.name) for each in node.files), self.rules.ids)
        for each in node.files:
            student = labels.student_in(_stem(each.name), self.rules.ids, numbers)
            rival = beside and student is not None and student in taken
            named = free(student or "", file=each.name, hint=hint, numbers=numbers)
            owners = (named,) if student else ()
            yield Upload(
                owners=() if rival else owners,
                parts=each.parts,
                entries=(each,),
                layout="files",
                reason="rival" if rival else "no_student",
            )

    def _files_below(self, node: Node, done: Sequence[Node], hint: str | None) -> Iterator[Upload]:
        """Each file by its own name, however deep."""
        skipped = {entry for each in done for entry in each.entries}
        for each in node.entries:
            if each in skipped:
                continue
            student = labels.student_in(_stem(each.name), self.rules.ids)
            owners = (free(student, file=each.name, hint=hint),) if student else ()
            yield Upload(owners=owners, parts=each.parts, entries=(each,), layout="files")

    # --- --student-pattern -------------------------------------------------------------------

    def _by_pattern(self, node: Node, pattern: re.Pattern[str]) -> Iterator[Upload]:
        """By the outermost folders, else the files, in whose path the pattern finds a student."""
        items: list[tuple[tuple[str, ...], str, tuple[Entry, ...]]] = [
            (each.parts, f"{'/'.join(each.parts)}/", each.entries) for each in node.folders.values()
        ]
        items += [(each.parts, each.shown, (each,)) for each in node.files]
        found = {path: pattern.search(path) for _, path, _ in items}
        if any(found[f"{'/'.join(each.parts)}/"] for each in node.folders.values()):
            # Here the pattern names folders: nothing in one of them names anybody.
            for parts, path, entries in items:
                yield _matched(found[path], parts, entries, self.rules.ids)
            return
        for each in node.folders.values():
            yield from self._by_pattern(each, pattern)
        for entry in node.files:
            yield _matched(found[entry.shown], entry.parts, (entry,), self.rules.ids)


def _matched(
    found: "re.Match[str] | None",
    parts: tuple[str, ...],
    entries: tuple[Entry, ...],
    ids: Collection[str],
) -> Upload:
    student = _group(found) if found else None
    hint = next((each.lower() for each in parts[:-1] if each.lower() in ids), None)
    owners = (Named(student=student, file=parts[-1], hint=hint),) if student else ()
    return Upload(owners=owners, parts=parts, entries=entries, layout="pattern")


def _group(found: re.Match[str]) -> str | None:
    groups = found.groupdict()
    if "student" in groups:
        return groups["student"]
    return found.group(1) if found.re.groups else found.group(0)


def _of_repository(name: str, above: str, beside: Sequence[str], ids: Collection[str]) -> str:
    """`octocat` of `hw4-octocat`: what all repositories there begin with is left out."""
    prefixes = [f"{each}-" for each in (above.removesuffix("-submissions"), *ids) if each]
    if len(beside) > 1:
        prefixes.append(_common(beside))
    known = next((each for each in prefixes if each and name.lower().startswith(each.lower())), "")
    return name[len(known) :] or name


def _common(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    length = next(
        (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )
    return first[: first[:length].rfind("-") + 1].lower()


def _words(name: str) -> set[str]:
    return {each for each in re.split(r"[\W_]+", name.lower()) if each}


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name
