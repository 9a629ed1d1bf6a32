"""What will be graded: one job for each attempt of a student at an assignment, in a fixed order."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader import submission
from grader.assignment import Assignment, natural
from grader.bulk.archives import SUFFIXES, Locator, Shelf
from grader.bulk.inbox import Arrived, Inbox
from grader.bulk.platforms import Named
from grader.bulk.roster import Roster
from grader.errors import UsageProblem
from grader.model import Kind, Submission
from grader.reading import attribution

_LOSING = ("cannot_open", "too_many_files")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One file to be graded for one assignment.

    Args:
        counts: whether this attempt is the student's grade (the others are listed, too).
        file: its path as the report names it.
    """

    student: str
    assignment: str
    attempt: int
    counts: bool
    file: str
    locator: Locator
    sha256: str
    submitted_at: str | None = None
    late: bool = False

    @property
    def report_name(self) -> str:
        """The name of the report's file."""
        if self.counts:
            return f"{self.assignment}.json"
        return f"{self.assignment}.attempt-{self.attempt}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Something that is not graded; `reason` is a key of the texts `[bulk.reason]`."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A student as far as names and ids elsewhere are known."""

    student: str
    name: str | None = None
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """Several students handed in the same bytes. It says no more than that."""

    assignment: str
    sha256: str
    students: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is known before the first submission is graded.

    Args:
        left: what could not be attributed.
        aside: what is not looked into on purpose (links, and the like), and what lies beside a
            submission in a repository.
        absent: (student of the roster, assignment) without anything that counts.
    """

    jobs: tuple[Job, ...]
    people: tuple[Person, ...]
    left: tuple[Left, ...] = ()
    aside: tuple[Left, ...] = ()
    absent: tuple[tuple[str, str], ...] = ()
    duplicates: tuple[Duplicate, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of what is planned, equal in all shards of one class."""
        rows = [
            [each.student, each.assignment, each.attempt, each.counts, each.sha256]
            for each in self.jobs
        ]
        return hashlib.sha256(json.dumps(rows).encode("ascii")).hexdigest()

    def shard(self, index: int, count: int) -> "Plan":
        """The part of every `count`-th student; all attempts of one stay together."""
        students = sorted({each.student for each in self.jobs})
        mine = set(students[index - 1 :: count])
        return replace(self, jobs=tuple(each for each in self.jobs if each.student in mine))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is graded: these of all `known` assignments, as handed in before `until`."""

    known: tuple[Assignment, ...]
    chosen: tuple[Assignment, ...]
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A file that arrived, and the assignments that it is for; None when nothing tells."""

    named: Named
    arrived: Arrived
    ids: tuple[str, ...] | None
    sha256: str


def make(inbox: Inbox, shelf: Shelf, wanted: Wanted, roster: Roster) -> Plan:
    """The plan for what arrived. Reads every file once and keeps none."""
    people: dict[str, Person] = {
        each.student: Person(student=each.student, name=each.name, ids=each.ids)
        for each in roster.members
    }
    seen: list[_Seen] = []
    left: list[Left] = []
    for each in _understood(inbox, shelf, wanted, left):
        member = roster.find(each.named)
        student = member.student if member else each.named.student
        people.setdefault(student, Person(student=student, name=each.named.name))
        seen.append(replace(each, named=replace(each.named, student=student)))
    aside: list[Left] = []
    for refused in inbox.refused:
        # What could have been somebody's submission is missed by somebody.
        lost = refused.shown.lower().endswith((*SUFFIXES, ".zip")) or refused.reason in _LOSING
        (left if lost else aside).append(Left(file=refused.shown, reason=refused.reason))
    jobs = _jobs(_settled(seen, wanted, left, aside), wanted)
    left += [Left(file=shown, reason="no_source") for _, shown in inbox.without_source]
    return Plan(
        jobs=jobs,
        people=tuple(people[key] for key in sorted(people)),
        left=tuple(sorted(left, key=lambda each: each.file)),
        aside=tuple(aside),
        absent=_absent(jobs, roster, wanted),
        duplicates=_duplicates(jobs, wanted),
    )


# --- which assignments a file is for -----------------------------------------------------------


def _understood(inbox: Inbox, shelf: Shelf, wanted: Wanted, left: list[Left]) -> Iterable[_Seen]:
    # The members of a group come one after the other, with the same file.
    last: tuple[Locator, str | None, tuple[str, ...] | None, str] | None = None
    for arrived in inbox.arrived:
        named = arrived.named
        if named is None:
            left.append(Left(file=arrived.entry.shown, reason="no_student"))
            continue
        locator = arrived.entry.locator
        if last is None or last[:2] != (locator, named.hint):
            try:
                content = shelf.read(locator)
            except OSError:
                left.append(Left(file=arrived.entry.shown, reason="cannot_open"))
                continue
            sha256 = hashlib.sha256(content).hexdigest()
            last = (locator, named.hint, _ids(content, named, wanted), sha256)
        yield _Seen(named=named, arrived=arrived, ids=last[2], sha256=last[3])


def _ids(content: bytes, named: Named, wanted: Wanted) -> tuple[str, ...] | None:
    """The assignments that a file is for, whether chosen or not; None when nothing tells."""
    candidates = [
        attribution.Candidate(
            id=each.id,
            entry_points=tuple(entry.name for entry in each.entry_points),
            variables=each.variables,
        )
        for each in wanted.known
    ]
    functions = {name for each in candidates for name in each.entry_points}
    opened = Submission(file=named.file, kind=kind_of(named.file), sha256="", content=content)
    hint = (named.hint or "").lower()
    try:
        ids = attribution.attribute(submission.understand(opened, names=functions), candidates)
    except UsageProblem:
        return (hint,) if hint in [each.id for each in candidates] else None
    # What was handed in as hw1 is graded as hw1, whatever else the notebook holds.
    return (hint,) if hint in ids else ids


def kind_of(file: str) -> Kind:
    return "notebook" if file.lower().endswith(".ipynb") else "module"


def _settled(
    seen: Sequence[_Seen], wanted: Wanted, left: list[Left], aside: list[Left]
) -> list[tuple[_Seen, str]]:
    """Each file with each chosen assignment that it is graded for."""
    chosen = [each.id for each in wanted.chosen]
    settled = [(each, id_) for each in seen for id_ in each.ids or () if id_ in chosen]
    attributed = {each.named.student for each, _ in settled}
    open_ = [each for each in seen if each.ids is None]
    files = Counter(each.named.student for each in open_)
    for each in open_:
        student = each.named.student
        if len(chosen) == 1 and files[student] == 1 and student not in attributed:
            # One assignment was asked for, and this is all that the student handed in for it.
            settled.append((each, chosen[0]))
        elif each.arrived.in_repository and student in attributed:
            aside.append(Left(file=each.arrived.entry.shown, reason="beside"))
        else:
            left.append(Left(file=each.arrived.entry.shown, reason="no_assignment"))
    return settled


# --- attempts ----------------------------------------------------------------------------------


def _jobs(settled: Sequence[tuple[_Seen, str]], wanted: Wanted) -> tuple[Job, ...]:
    groups: dict[tuple[str, str], list[_Seen]] = {}
    for each, id_ in settled:
        groups.setdefault((id_, each.named.student), []).append(each)
    jobs = [
        job
        for (id_, student), attempts in groups.items()
        for job in _attempts(id_, student, attempts, wanted.until)
    ]
    # Those that count first, and each assignment in one go: a judge keeps its suite.
    return tuple(
        sorted(
            jobs,
            key=lambda job: (natural(job.assignment), not job.counts, job.student, job.attempt),
        )
    )


def _attempts(id_: str, student: str, attempts: Sequence[_Seen], until: str | None) -> list[Job]:
    ordered = sorted(
        attempts,
        key=lambda each: (
            each.named.submitted_at or "",
            each.named.copy,
            natural(each.arrived.entry.shown),
        ),
    )
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
            sha256=each.sha256,
            submitted_at=each.named.submitted_at,
            late=each.named.late,
        )
        for number, each in enumerate(ordered, 1)
    ]


def _absent(jobs: Sequence[Job], roster: Roster, wanted: Wanted) -> tuple[tuple[str, str], ...]:
    there = {(each.student, each.assignment) for each in jobs if each.counts}
    handed_in = {each.assignment for each in jobs}
    return tuple(
        (member.student, each.id)
        for each in wanted.chosen
        # Without `--assignment`: those that anybody handed in.
        if each.id in handed_in or len(wanted.chosen) < len(wanted.known)
        for member in roster.members
        if (member.student, each.id) not in there
    )


def _duplicates(jobs: Sequence[Job], wanted: Wanted) -> tuple[Duplicate, ...]:
    templates = {
        hashlib.sha256(path.read_bytes()).hexdigest()
        for each in wanted.chosen
        for path in each.folder.glob("template*.py")
    }
    who: dict[tuple[str, str], dict[str, Locator]] = {}
    for job in jobs:
        if job.sha256 not in templates:
            who.setdefault((job.assignment, job.sha256), {})[job.student] = job.locator
    return tuple(
        Duplicate(assignment=id_, sha256=sha256, students=tuple(sorted(students)))
        for (id_, sha256), students in who.items()
        # A group hands in one file together.
        if len(set(students.values())) > 1
    )
