"""From what arrived to the plan: what is graded for whom, and what is told of the rest."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.assignment import natural
from grader.bulk import claims, labels
from grader.bulk.archive_reader import Files
from grader.bulk.archives import SUFFIXES, Locator
from grader.bulk.choosing import Chosen, Seen, choose
from grader.bulk.facts import Facts, Known
from grader.bulk.inbox import Arrived, Inbox, Sourceless
from grader.bulk.plan import Duplicate, Job, Left, Person, Plan, Stranger, Ungraded, Wanted
from grader.bulk.platforms import Named
from grader.bulk.roster import Roster
from grader.errors import GraderError
from grader.reader.client import Stopped

# For all files of one upload. Hundreds of honest ones take a second or two.
UPLOAD_CPU_S = 30.0
# Of one kind in one upload, and attempts of one student at one assignment.
MOST_TOLD = 50
MOST_ATTEMPTS = 20
_GIVEN_UP = ("reading_time", "reading_memory", "reading_died")
_LOSING = ("cannot_open", "too_many_files")
# Of one upload, how many scripts and notebooks are read.
MOST_SOURCES = 200


def make(inbox: Inbox, files: Files, wanted: Wanted, roster: Roster) -> Plan:
    """The plan for what arrived. Reads every file once and keeps none."""
    notes = _Notes()
    seen = list(_understood(inbox, files, wanted, notes))
    owned = claims.settle([*seen, *inbox.sourceless], roster)
    _tell_refused(inbox, owned, notes)
    mine = [each for each in owned.kept if isinstance(each, Seen)]
    jobs = _jobs(_settled(mine, wanted, notes), wanted, notes)
    for each in owned.kept:
        if isinstance(each, Sourceless) and each.named is not None:
            notes.leave(each.shown, each.reason)
            status = "unreadable" if each.reason in _GIVEN_UP else "no_source"
            notes.charge(each.named.student, each.shown, status, _hinted(each, wanted))
    ungraded = _ungraded(jobs, notes, wanted)
    members = {each.student: each for each in roster.members}
    people = {**notes.names, **owned.names, **{each.student: each.name for each in roster.members}}
    return Plan(
        jobs=jobs,
        people=tuple(
            Person(student=key, name=people[key], ids=members[key].ids if key in members else {})
            for key in sorted(people)
        ),
        left=tuple(sorted(_thinned(notes.left, inbox), key=lambda each: each.file)),
        aside=tuple(_thinned(notes.aside, inbox)),
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
        names: of students of whom a file could not be read.
    """

    left: list[Left] = field(default_factory=list)
    aside: list[Left] = field(default_factory=list)
    charged: dict[str, list[tuple[str, str, str | None]]] = field(default_factory=dict)
    codes: dict[tuple[Locator, str], str | None] = field(default_factory=dict)
    names: dict[str, str | None] = field(default_factory=dict)

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


def _thinned(rows: Iterable[Left], inbox: Inbox) -> Iterator[Left]:
    """The rows; of many of one kind in one upload the first few, and how many more there are."""
    uploads = frozenset(inbox.uploads)
    number: Counter[tuple[str, str]] = Counter()
    for each in dict.fromkeys(rows):
        parts = each.file.split("/")
        heads = ("/".join(parts[:at]) for at in range(1, len(parts) + 1))
        kind = (next((head for head in heads if head in uploads), each.file), each.reason)
        number[kind] += 1
        if number[kind] <= MOST_TOLD:
            yield each
    for (upload, reason), many in number.items():
        if many > MOST_TOLD:
            yield Left(file=f"{upload}/... (+{many - MOST_TOLD})", reason=reason)


# --- which assignments a file is for -----------------------------------------------------------


def _understood(inbox: Inbox, files: Files, wanted: Wanted, notes: _Notes) -> Iterable[Seen]:
    known = [Known.of(each) for each in wanted.known]
    spent_s: defaultdict[str, float] = defaultdict(float)
    # The members of a group come one after the other, with the same file.
    last: tuple[Locator, str | None, Facts | _Unknown] | None = None
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
            said = _facts(arrived, named, files, known, spent_s)
            last = (locator, named.hint, said)
        if isinstance(last[2], _Unknown):
            notes.leave(arrived.entry.shown, last[2].reason)
            notes.charge(named.student, arrived.entry.shown, last[2].status, named.hint)
            # Whoever handed in nothing else must not vanish from the tables.
            notes.names.setdefault(named.student, named.name)
        else:
            yield Seen(named=named, arrived=arrived, facts=last[2])


@dataclass(frozen=True, slots=True)
class _Unknown:
    """Nothing is known of a file: a key of `[bulk.reason]`, and what that makes of its owner."""

    reason: str
    status: str


def _facts(
    arrived: Arrived,
    named: Named,
    files: Files,
    known: Sequence[Known],
    spent_s: defaultdict[str, float],
) -> Facts | _Unknown:
    """What a file says of itself, as long as its upload has not used up its time."""
    if spent_s[arrived.upload] > UPLOAD_CPU_S:
        return _Unknown("reading_time", "unreadable")
    try:
        return files.facts(arrived.entry.locator, named.file, named.hint, known)
    except OSError:
        return _Unknown("cannot_open", "no_source")
    except Stopped as stopped:
        return _Unknown(f"reading_{stopped.reason}", "unreadable")
    except GraderError:
        # A fault of ours, which must not end the class: nobody gets a score by it.
        return _Unknown("reading_died", "unreadable")
    finally:
        spent_s[arrived.upload] += files.used_s


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
    others = {each.id.lower() for each in wanted.known} - {id_.lower() for id_ in chosen}
    asked = [each for each in seen if (each.named.hint or "").lower() not in others]
    for each in seen:
        if each not in asked:
            # The platform itself says that it was handed in for another assignment.
            notes.put_aside(each.shown, "other_assignment")
            notes.charge(each.named.student, each.shown, "other_assignment", None)
    for each in asked:
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
        _tell_others(asked, attributed, chosen, notes)
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
        jobs += _attempts(id_, student, chosen.attempts, wanted.until, notes)
        for each in chosen.attempts:
            blank = id_ in each.facts.blank
            notes.codes[each.arrived.entry.locator, id_] = None if blank else each.facts.code
    # Those that count first, because the tables wait for them; and each assignment in one go,
    # because a judge keeps its suite.
    return tuple(
        sorted(
            jobs,
            key=lambda job: (not job.counts, natural(job.assignment), job.student, job.attempt),
        )
    )


def _tell_choice(chosen: Chosen, student: str, id_: str, notes: _Notes) -> None:
    for each, reason in chosen.aside:
        notes.put_aside(each.shown, reason)
    for each in chosen.open:
        notes.leave(each.shown, "ambiguous")
        notes.charge(student, each.shown, "ambiguous", id_)


def _attempts(
    id_: str, student: str, ordered: Sequence[Seen], until: str | None, notes: _Notes
) -> list[Job]:
    """The newest attempts; older ones are told and cost the class no time."""
    in_time = [
        number
        for number, each in enumerate(ordered, 1)
        if until is None or (each.named.submitted_at or "") <= until
    ]
    latest = in_time[-1] if in_time else None
    jobs = []
    for number, each in enumerate(ordered, 1):
        if number <= len(ordered) - MOST_ATTEMPTS and number != latest:
            notes.put_aside(each.shown, "too_many_attempts")
            continue
        jobs.append(
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
                unread=each.facts.unread,
            )
        )
    return jobs


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
