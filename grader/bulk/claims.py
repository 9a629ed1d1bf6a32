"""Whom each thing is counted for: by the roster's ids, and of two owners for one neither."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grader.bulk import labels
from grader.bulk.choosing import Seen
from grader.bulk.inbox import Sourceless
from grader.bulk.platforms import Named
from grader.bulk.roster import Roster

Thing = Seen | Sourceless


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A thing that nobody's grade comes from; `student` is who it may be of."""

    shown: str
    reason: str
    student: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Args:

    kept: each with the student's id as the results know it, a group's once for each member.
    strangers: students that are not on the roster, with the member whose name they have.
    """

    kept: tuple[Thing, ...]
    refused: tuple[Refusal, ...]
    names: dict[str, str | None]
    strangers: dict[str, str | None]


def settle(things: Iterable[Thing], roster: Roster) -> Settled:
    """Whose each thing is. One student claimed by two owners is refused to both."""
    kept: list[tuple[tuple[object, ...], Thing]] = []
    refused: list[Refusal] = []
    names: dict[str, str | None] = {}
    strangers: dict[str, str | None] = {}
    taken = {each.student for each in roster.members}
    for thing in things:
        named = thing.named
        if named is None:
            continue
        found = roster.find(named) if roster.members else None
        if found is not None and found.reason:
            refused.append(Refusal(shown=thing.shown, reason=found.reason, hint=named.hint))
            continue
        if found is not None and found.members:
            for member in found.members:
                names.setdefault(member.student, member.name)
                kept.append((_owner(thing, named), _of(thing, member.student)))
            continue
        # The id of a stranger may be the id of a member in another system.
        student = f"{named.system}-{named.student}" if named.student in taken else named.student
        names.setdefault(student, named.name)
        if roster.members:
            alike = roster.alike(named)
            strangers[student] = alike.student if alike else None
        kept.append((_owner(thing, named), _of(thing, student)))
    rivals = _rivals(kept) | _misnumbered(kept, taken)
    refused += [
        Refusal(shown=thing.shown, reason="rival", student=student, hint=_hint(thing))
        for _, thing in kept
        if (student := _student(thing)) in rivals
    ]
    return Settled(
        kept=tuple(thing for _, thing in kept if _student(thing) not in rivals),
        refused=tuple(refused),
        names=names,
        strangers=strangers,
    )


def _rivals(kept: Sequence[tuple[tuple[object, ...], Thing]]) -> set[str]:
    """Students for whom more than one owner handed in."""
    owners: dict[str, set[tuple[object, ...]]] = {}
    for owner, thing in kept:
        owners.setdefault(_student(thing), set()).add(owner)
    return {student for student, known in owners.items() if len(known) > 1}


def _misnumbered(kept: Sequence[tuple[tuple[object, ...], Thing]], members: set[str]) -> set[str]:
    """Numbers that stand beside different names and on no roster: one of them is mistyped."""
    names: dict[str, set[tuple[str, ...]]] = {}
    for _, thing in kept:
        named = thing.named
        if named is None or named.system != "free" or not named.name:
            continue
        if named.student not in members:
            words = labels.plain(named.name).casefold().split()
            names.setdefault(named.student, set()).add(tuple(sorted(words)))
    return {student for student, known in names.items() if len(known) > 1}


def _owner(thing: Thing, named: Named) -> tuple[object, ...]:
    """Who handed a thing in, as its layer says; equal for all attempts of one."""
    layer = thing.arrived.layer if isinstance(thing, Seen) else thing.layer
    if named.system in ("free", "github"):
        # A name that somebody typed says who it is only beside its like.
        return named.system, layer
    return named.system, named.student


def _of(thing: Thing, student: str) -> Thing:
    if thing.named is None:
        return thing
    return replace(thing, named=replace(thing.named, student=student))


def _student(thing: Thing) -> str:
    return thing.named.student if thing.named is not None else ""


def _hint(thing: Thing) -> str | None:
    return thing.named.hint if thing.named is not None else None
