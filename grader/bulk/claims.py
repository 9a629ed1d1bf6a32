"""Whom each thing is counted for: by the roster's ids, and of two owners for one neither."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from grader.bulk.choosing import Seen
from grader.bulk.inbox import Sourceless
from grader.bulk.labels import plain
from grader.bulk.platforms import Named
from grader.bulk.roster import Member, Roster

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
    kept: list[tuple[_Claim, Thing]] = []
    refused: list[Refusal] = []
    names: dict[str, str | None] = {}
    strangers: dict[str, str | None] = {}
    taken = {each.student for each in roster.members}
    things = tuple(things)
    ids = {(each.named.system, each.named.student) for each in things if each.named is not None}
    for thing in things:
        named = thing.named
        if named is None:
            continue
        found = roster.find(named) if roster.members else None
        if found is not None and found.reason:
            refused.append(Refusal(shown=thing.shown, reason=found.reason, hint=named.hint))
            continue
        if found is not None and _is_written_out(named, found.members, ids):
            found = None
        if found is not None and found.members:
            for member in found.members:
                names.setdefault(member.student, member.name)
                kept.append((_claim(thing, named), _of(thing, member.student)))
            continue
        # The id of a stranger may be the id of a member in another system.
        student = f"{named.system}-{named.student}" if named.student in taken else named.student
        names.setdefault(student, named.name)
        if roster.members:
            alike = roster.alike(named)
            strangers[student] = alike.student if alike else None
        kept.append((_claim(thing, named), _of(thing, student)))
    rivals = _rivals(kept)
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


def _is_written_out(
    named: Named, members: Sequence[Member], ids: Collection[tuple[str, str]]
) -> bool:
    """Whether another owner has a member's id to the letter, and this one only nearly."""
    if named.system == "free" or len(members) != 1:
        return False
    values = members[0].ids.values()
    return named.student not in values and any(
        (named.system, each) in ids and _folded(each) == _folded(named.student) for each in values
    )


def _folded(id_: str) -> str:
    return plain(id_).strip().casefold().lstrip("0")


@dataclass(frozen=True, slots=True)
class _Claim:
    """Who handed a thing in, as its layer says; number and name where somebody typed them."""

    owner: tuple[object, ...]
    number: str | None = None
    name: str | None = None


def _rivals(kept: Sequence[tuple[_Claim, Thing]]) -> set[str]:
    """Students for whom more than one owner handed in."""
    claims: dict[str, set[_Claim]] = {}
    for claim, thing in kept:
        claims.setdefault(_student(thing), set()).add(claim)
    return {student for student, known in claims.items() if not _agree(known)}


def _agree(claims: Collection[_Claim]) -> bool:
    """Whether all may be of one person: a name may be longer in one place than in another."""
    if len({each.owner for each in claims}) > 1:
        return False
    if len({each.number for each in claims if each.number is not None}) > 1:
        return False
    names = {each.name for each in claims if each.name is not None}
    longest = max(names, key=len, default="")
    return all(each in longest or set(each.split()) <= set(longest.split()) for each in names)


def _claim(thing: Thing, named: Named) -> _Claim:
    layer = thing.arrived.layer if isinstance(thing, Seen) else thing.layer
    if named.system not in ("free", "github"):
        return _Claim((named.system, named.student))
    # A name that somebody typed says who it is only beside its like.
    owner = named.system, layer
    if named.name is None:
        return _Claim(owner)
    words = re.findall(r"\w+", named.name.casefold())
    return _Claim(owner, named.student.casefold().lstrip("0"), " ".join(words))


def _of(thing: Thing, student: str) -> Thing:
    if thing.named is None:
        return thing
    return replace(thing, named=replace(thing.named, student=student))


def _student(thing: Thing) -> str:
    return thing.named.student if thing.named is not None else ""


def _hint(thing: Thing) -> str | None:
    return thing.named.hint if thing.named is not None else None
