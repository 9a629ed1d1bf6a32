"""What will be graded: one job for each attempt of a student at an assignment, in a fixed order."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from grader.assignment import Assignment
from grader.bulk.archives import Locator
from grader.bulk.inbox import Understood
from grader.reader.client import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One file to be graded for one assignment.

    Args:
        counts: whether this attempt is the student's grade (the others are listed, too).
        file: its path as the report names it.
        unread: why reading it was given up, where it was: it is not tried again.
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
    unread: Reason | None = None

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
class Ungraded:
    """A student who handed in something for an assignment, of which nothing counts.

    Args:
        status: no_source, unreadable, late, other_assignment, ambiguous, rival.
        files: what was handed in.
    """

    student: str
    assignment: str
    status: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """Somebody who handed in and is not on the roster; `alike` is a member of the same name."""

    student: str
    alike: str | None


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
        absent: (student of the roster, assignment) who handed in nothing.
        ungraded: who handed in something, and nothing of it counts.
        substituted: members of the roster who are known by another id than the others.
        undated: files with a time that names no moment, while `--until` was given.
    """

    jobs: tuple[Job, ...]
    people: tuple[Person, ...]
    left: tuple[Left, ...] = ()
    aside: tuple[Left, ...] = ()
    absent: tuple[tuple[str, str], ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    ungraded: tuple[Ungraded, ...] = ()
    strangers: tuple[Stranger, ...] = ()
    substituted: tuple[str, ...] = ()
    understood: tuple[Understood, ...] = ()
    undated: int = 0

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
