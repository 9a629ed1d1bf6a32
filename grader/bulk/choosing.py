"""Which of a student's files is the submission, and which are attempts that came before it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from grader.assignment import natural
from grader.bulk import labels
from grader.bulk.facts import Facts
from grader.bulk.inbox import Arrived
from grader.bulk.platforms import Named


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file that arrived, whose it is by now, and what it says of itself."""

    named: Named
    arrived: Arrived
    facts: Facts

    @property
    def shown(self) -> str:
        return self.arrived.entry.shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is graded, the last one latest; the rest with reasons `[bulk.reason]`.

    Args:
        attempts: each from another upload, or a resubmission.
        aside: files that lose to an attempt.
        open: files of which nobody can say which one is meant; then there is no attempt.
    """

    attempts: tuple[Seen, ...]
    aside: tuple[tuple[Seen, str], ...] = ()
    open: tuple[Seen, ...] = ()


def choose(files: Sequence[Seen], id_: str) -> Chosen:
    """Of all files of one student for one assignment."""
    worth = min(_worth(each, id_) for each in files)
    latest = _of_newest_edition([each for each in files if _worth(each, id_) == worth])
    best = min(_rank(each, id_) for each in latest)
    kept = {each.shown for each in latest if _rank(each, id_) == best}
    newer = {each.shown for each in latest}
    aside = [(each, _lost(each, id_, newer)) for each in files if each.shown not in kept]
    winners: list[Seen] = []
    for mine in _by_upload(each for each in latest if each.shown in kept):
        newest = _newest(mine)
        alike = _distinct(newest)
        if len(alike) > 1:
            return Chosen(attempts=(), aside=tuple(aside), open=tuple(newest))
        winners.append(alike[0])
        aside += [(each, "same") for each in newest if each is not alike[0]]
        aside += [(each, "older") for each in mine if each not in newest]
    winners.sort(key=_order)
    last = [each for each in winners if _order(each)[:-1] == _order(winners[-1])[:-1]]
    if len(_distinct(last)) > 1 and len({each.arrived.upload for each in last}) > 1:
        return Chosen(attempts=(), aside=tuple(aside), open=tuple(last))
    return Chosen(attempts=tuple(winners), aside=tuple(aside))


def _worth(seen: Seen, id_: str) -> tuple[int, int]:
    """Lower is better: what counts before any version or date does."""
    role = labels.role(seen.arrived.inner)
    tier = 0 if id_ in seen.facts.done else 2 if id_ in seen.facts.blank else 1
    return tier + 2 * (role == "test" and tier > 0), ("work", "old", "test").index(role)


def _rank(seen: Seen, id_: str) -> tuple[int, int]:
    """Lower is better, of files of equal worth in one version of the work."""
    name = seen.arrived.inner[-1]
    return int(labels.is_copy(name)), int(not labels.mentions(name, id_))


def _lost(seen: Seen, id_: str, latest: Collection[str]) -> str:
    """Why a file is not the one."""
    role = labels.role(seen.arrived.inner)
    if id_ in seen.facts.blank:
        return "template"
    if role == "old":
        return "older"
    if labels.is_copy(seen.arrived.inner[-1]):
        return "copy"
    versioned = labels.editions(seen.arrived.inner[:-1]) is not None
    return "older" if versioned and seen.shown not in latest else "beside"


def _by_upload(files: Iterable[Seen]) -> list[list[Seen]]:
    uploads: dict[str, list[Seen]] = {}
    for each in files:
        uploads.setdefault(each.arrived.upload, []).append(each)
    return list(uploads.values())


def _newest(files: Sequence[Seen]) -> list[Seen]:
    """The newest version of each file; versions share a folder and the rest of the name."""
    groups: dict[tuple[tuple[str, ...], str], list[Seen]] = {}
    for each in files:
        inner = each.arrived.inner
        groups.setdefault((inner[:-1], labels.base(inner[-1])), []).append(each)
    found: list[Seen] = []
    for group in groups.values():
        newest = max(labels.version(each.arrived.inner[-1]) for each in group)
        found += [each for each in group if labels.version(each.arrived.inner[-1]) == newest]
    return found


def _of_newest_edition(files: Sequence[Seen]) -> list[Seen]:
    """Without the folders of earlier versions, as `Version 1` beside `Version 2`."""
    found: list[Seen] = []
    for mine in _by_upload(files):
        editions = [labels.editions(each.arrived.inner[:-1]) for each in mine]
        newest: dict[tuple[str, ...], int] = {}
        for head, number in filter(None, editions):
            newest[head] = max(number, newest.get(head, number))
        found += [
            each
            for each, edition in zip(mine, editions, strict=True)
            if edition is None or newest[edition[0]] == edition[1]
        ]
    return found


def _distinct(files: Sequence[Seen]) -> list[Seen]:
    """One of each code; a notebook before the script that was made of it."""
    kept: dict[str, Seen] = {}
    for each in sorted(files, key=lambda one: (one.shown.lower().endswith(".py"), one.shown)):
        kept.setdefault(each.facts.code, each)
    return list(kept.values())


def _order(seen: Seen) -> tuple[str, str, labels.Version, object]:
    return (
        seen.named.submitted_at or "",
        seen.named.order,
        labels.version(seen.arrived.inner[-1]),
        natural(seen.shown),
    )
