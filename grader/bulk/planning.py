"""From what arrived to the plan: what is graded for whom, and what is told of the rest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.assignment import natural
from grader.bulk import claims, labels
from grader.bulk.archives import SUFFIXES, Locator, Shelf
from grader.bulk.choosing import Chosen, Seen, choose
from grader.bulk.facts import Facts, facts
from grader.bulk.inbox import Arrived, Inbox, Sourceless
from grader.bulk.plan import Duplicate, Job, Left, Person, Plan, Stranger, Ungraded, Wanted
from grader.bulk.roster import Roster

_LOSING = ("cannot_open", "too_many_files")
# Of one upload, how many scripts and notebooks are read; of a student and an assignment, how many
# attempts are graded.
MOST_SOURCES = 200
MOST_ATTEMPTS = 20


def make(inbox: Inbox, shelf: Shelf, wanted: Wanted, roster: Roster) -> Plan:
    """The plan for what arrived. Reads every file once and keeps none."""
    notes = _Notes()
    seen = list(_understood(inbox, shelf, wanted, notes))
    owned = claims.settle([*seen, *inbox.sourceless], roster)
    _tell_refused(inbox, owned, notes)
    mine = [each for each in owned.kept if isinstance(each, Seen)]
    jobs = _jobs(_settled(mine, wanted, notes), wanted, notes)
    for each in owned.kept:
        if isinstance(each, Sourceless) and each.named is not None:
            notes.leave(each.shown, each.reason)
            notes.charge(each.named.student, each.shown, "no_source", _hinted(each, wanted))
    ungraded = _ungraded(jobs, notes, wanted)
    members = {each.student: each for each in roster.members}
    people = {**owned.names, **{each.student: each.name for each in roster.members}}
    return Plan(
        jobs=jobs,
        people=tuple(
            Person(student=key, name=people[key], ids=members[key].ids if key in members else {})
            for key in sorted(people)
        ),
        left=tuple(sorted(dict.fromkeys(notes.left), key=lambda each: each.file)),
        aside=tuple(dict.fromkeys(notes.aside)),
        absent=_absent(jobs, ungraded, roster, wanted),
        duplicates=_duplicates(jobs, notes.codes),
        ungraded=ungraded,
        strangers=tuple(
            Stranger(student=student, alike=alike)
            for student, alike in sorted(owned.strangers.items())
        ),
        substituted=roster.substituted,
        understood=inbox.understood,
        undated=sum(each.named.undated for each in mine) if wanted.until else 0,
    )


@dataclass(frozen=True, slots=True)
class _Notes:
    """What is told beside the jobs, as it comes up.

    Args:
        charged: for each student: (file, status, assignment or None) of what does not count.
        codes: for each job's file, what makes copies equal; None for an untouched template.
    """

    left: list[Left] = field(default_factory=list)
    aside: list[Left] = field(default_factory=list)
    charged: dict[str, list[tuple[str, str, str | None]]] = field(default_factory=dict)
    codes: dict[tuple[Locator, str], str | None] = field(default_factory=dict)

    def leave(self, file: str, reason: str) -> None:
        self.left.append(Left(file=file, reason=reason))

    def put_aside(self, file: str, reason: str) -> None:
        self.aside.append(Left(file=file, reason=reason))

    def charge(self, student: str, file: str, status: str, id_: str | None) -> None:
        self.charged.setdefault(student, []).append((file, status, id_))


def _tell_refused(inbox: Inbox, owned: claims.Settled, notes: _Notes) -> None:
    for each in owned.refused:
        notes.leave(each.shown, each.reason)
        if each.student is not None:
            notes.charge(each.student, each.shown, each.reason, None)
    for nobody in inbox.sourceless:
        if nobody.named is None:
            notes.leave(nobody.shown, "no_source")
    for refused in inbox.refused:
        # What could have been somebody's submission is missed by somebody.
        lost = refused.shown.lower().endswith((*SUFFIXES, ".zip")) or refused.reason in _LOSING
        (notes.leave if lost else notes.put_aside)(refused.shown, refused.reason)


def _hinted(each: Sourceless, wanted: Wanted) -> str | None:
    """The assignment that a file without source seems to be for."""
    hint = (each.named.hint or "").lower() if each.named else ""
    named = [one.id for one in wanted.known if labels.mentions(each.shown, one.id)]
    return hint or (named[0] if len(named) == 1 else None)


# --- which assignments a file is for -----------------------------------------------------------


def _understood(inbox: Inbox, shelf: Shelf, wanted: Wanted, notes: _Notes) -> Iterable[Seen]:
    # The members of a group come one after the other, with the same file.
    last: tuple[Locator, str | None, Facts] | None = None
    unlikely = _unlikely(inbox.arrived)
    for arrived in inbox.arrived:
        named = arrived.named
        if arrived.entry.locator in unlikely:
            notes.put_aside(arrived.entry.shown, "too_many_sources")
            continue
        if named is None:
            notes.leave(arrived.entry.shown, arrived.reason)
            continue
        locator = arrived.entry.locator
        if last is None or last[:2] != (locator, named.hint):
            try:
                content = shelf.read(locator)
            except OSError:
                notes.leave(arrived.entry.shown, "cannot_open")
                notes.charge(named.student, arrived.entry.shown, "no_source", named.hint)
                continue
            last = (locator, named.hint, facts(content, named.file, named.hint, wanted.known))
        yield Seen(named=named, arrived=arrived, facts=last[2])


def _unlikely(arrived: Sequence[Arrived]) -> set[Locator]:
    """Of uploads with very many scripts and notebooks, all but those that may be meant."""
    uploads: dict[str, dict[Locator, Arrived]] = {}
    for each in arrived:
        if each.named is not None:
            uploads.setdefault(each.upload, {}).setdefault(each.entry.locator, each)
    return {
        each.entry.locator
        for mine in uploads.values()
        if len(mine) > MOST_SOURCES
        for each in sorted(mine.values(), key=_likelihood)[MOST_SOURCES:]
    }


def _likelihood(arrived: Arrived) -> tuple[int, int, object]:
    """Sorts what lies at the top and is called like an answer first."""
    role = labels.role(arrived.inner)
    return ("work", "old", "test").index(role), len(arrived.inner), natural(arrived.entry.shown)


def _settled(seen: Sequence[Seen], wanted: Wanted, notes: _Notes) -> list[tuple[Seen, str]]:
    """Each file with each chosen assignment that it is graded for."""
    chosen = [each.id for each in wanted.chosen]
    settled: list[tuple[Seen, str]] = []
    open_: list[Seen] = []
    for each in seen:
        ids = each.facts.ids
        tool = labels.role(each.arrived.inner) == "test"
        if ids is None or (tool and not each.facts.done and not each.facts.blank):
            open_.append(each)
            continue
        settled += [(each, id_) for id_ in ids if id_ in chosen]
        if not set(ids) & set(chosen):
            notes.charge(each.named.student, each.shown, "other_assignment", None)
    attributed = {each.named.student for each, _ in settled}
    works = [each for each in open_ if labels.role(each.arrived.inner) != "test"]
    files = Counter(each.named.student for each in works)
    for each in open_:
        student = each.named.student
        alone = files[student] == 1 and each in works and student not in notes.charged
        if len(chosen) == 1 and alone and student not in attributed:
            # One assignment was asked for, and this is all that the student handed in for it.
            settled.append((each, chosen[0]))
        elif student in attributed:
            notes.put_aside(each.shown, "beside")
        else:
            notes.leave(each.shown, "no_assignment")
            notes.charge(student, each.shown, "no_source", None)
    if len(chosen) < len(wanted.known):
        _tell_others(seen, attributed, chosen, notes)
    return settled


def _tell_others(
    seen: Sequence[Seen], attributed: set[str], chosen: Sequence[str], notes: _Notes
) -> None:
    """Files of students who handed in nothing but another assignment's work."""
    for each in seen:
        ids = each.facts.ids or ()
        if ids and not set(ids) & set(chosen) and each.named.student not in attributed:
            notes.leave(each.shown, "other_assignment")


# --- attempts ----------------------------------------------------------------------------------


def _jobs(settled: Sequence[tuple[Seen, str]], wanted: Wanted, notes: _Notes) -> tuple[Job, ...]:
    groups: dict[tuple[str, str], list[Seen]] = {}
    for each, id_ in settled:
        groups.setdefault((id_, each.named.student), []).append(each)
    jobs: list[Job] = []
    for (id_, student), files in groups.items():
        chosen = choose(files, id_)
        _tell_choice(chosen, student, id_, notes)
        attempts = _attempts(id_, student, chosen.attempts, wanted.until)
        newest = attempts[-MOST_ATTEMPTS:]
        jobs += [job for job in attempts if job.counts or job in newest]
        for early in attempts[:-MOST_ATTEMPTS]:
            if not early.counts:
                notes.put_aside(early.file, "too_many_attempts")
        for each in chosen.attempts:
            blank = id_ in each.facts.blank
            notes.codes[each.arrived.entry.locator, id_] = None if blank else each.facts.code
    # Those that count first, and each assignment in one go: a judge keeps its suite.
    return tuple(
        sorted(
            jobs,
            key=lambda job: (natural(job.assignment), not job.counts, job.student, job.attempt),
        )
    )


def _tell_choice(chosen: Chosen, student: str, id_: str, notes: _Notes) -> None:
    for each, reason in chosen.aside:
        notes.put_aside(each.shown, reason)
    for each in chosen.open:
        notes.leave(each.shown, "ambiguous")
        notes.charge(student, each.shown, "ambiguous", id_)


def _attempts(id_: str, student: str, ordered: Sequence[Seen], until: str | None) -> list[Job]:
    in_time = [
        number
        for number, each in enumerate(ordered, 1)
        if until is None or (each.named.submitted_at or "") <= until
    ]
    latest = in_time[-1] if in_time else None
    return [
        Job(
            student=student,
            assignment=id_,
            attempt=number,
            counts=number == latest,
            file=each.arrived.entry.shown,
            locator=each.arrived.entry.locator,
            sha256=each.facts.sha256,
            submitted_at=each.named.submitted_at,
            late=each.named.late,
        )
        for number, each in enumerate(ordered, 1)
    ]


# --- who has nothing that counts ---------------------------------------------------------------


def _ungraded(jobs: Sequence[Job], notes: _Notes, wanted: Wanted) -> tuple[Ungraded, ...]:
    """One row for each student and assignment of which something arrived and nothing counts."""
    counting = {(each.student, each.assignment) for each in jobs if each.counts}
    rows: dict[tuple[str, str], Ungraded] = {}
    for each in jobs:
        key = (each.student, each.assignment)
        if key not in counting:
            earlier = rows[key].files if key in rows else ()
            rows[key] = Ungraded(
                student=key[0], assignment=key[1], status="late", files=(*earlier, each.file)
            )
    for student, charged in notes.charged.items():
        for id_ in _asked(jobs, wanted):
            mine = [(file, status) for file, status, of in charged if of in (None, id_)]
            key = (student, id_)
            if mine and key not in counting and key not in rows:
                files = tuple(dict.fromkeys(file for file, _ in mine))
                rows[key] = Ungraded(
                    student=student, assignment=id_, status=mine[0][1], files=files
                )
    return tuple(rows[key] for key in sorted(rows))


def _asked(jobs: Sequence[Job], wanted: Wanted) -> list[str]:
    """The assignments that are graded: without `--assignment` those that anybody handed in."""
    handed_in = {each.assignment for each in jobs}
    some = len(wanted.chosen) < len(wanted.known)
    return [each.id for each in wanted.chosen if some or each.id in handed_in]


def _absent(
    jobs: Sequence[Job], ungraded: Sequence[Ungraded], roster: Roster, wanted: Wanted
) -> tuple[tuple[str, str], ...]:
    there = {(each.student, each.assignment) for each in jobs if each.counts}
    there |= {(each.student, each.assignment) for each in ungraded}
    return tuple(
        (member.student, id_)
        for id_ in _asked(jobs, wanted)
        for member in roster.members
        if (member.student, id_) not in there
    )


def _duplicates(
    jobs: Sequence[Job], codes: Mapping[tuple[Locator, str], str | None]
) -> tuple[Duplicate, ...]:
    who: dict[tuple[str, str], dict[str, Job]] = {}
    for job in jobs:
        code = codes.get((job.locator, job.assignment))
        if code is not None:
            who.setdefault((job.assignment, code), {})[job.student] = job
    return tuple(
        Duplicate(
            assignment=id_,
            sha256=min(job.sha256 for job in students.values()),
            students=tuple(sorted(students)),
        )
        for (id_, _), students in who.items()
        # A group hands in one file together.
        if len({job.locator for job in students.values()}) > 1
    )
