"""One judging, and the report that is cut from it for each audience."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import metadata
from typing import Any

from grader import ordering, report, rubric
from grader.assignment import Assignment
from grader.model import Audience, Problem, Reading, Scored
from grader.suite.messages import Broken, Verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """The two reports on one judging."""

    staff: dict[str, Any]
    student: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One judging, from which a report can be cut for each audience."""

    reading: Reading
    assignment: Assignment
    verdicts: Verdicts | Broken | None
    run: report.Run
    problems: tuple[Problem, ...]

    def view(self, audience: Audience) -> dict[str, Any]:
        """The report as this audience may see it."""
        match self.verdicts:
            case Verdicts() as verdicts:
                return self._decided(verdicts, audience)
            case Broken():
                return self._undecided(audience, (), "grader_failed")
        nothing = rubric.nothing_to_test(self.assignment.criteria)
        status: report.Status = "unreadable" if self.reading.unreadable else "graded"
        return self._undecided(audience, nothing, status)

    def both_views(self, demanded: str) -> Views:
        """What staff and what the student may see.

        Args:
            demanded: the sandbox level below which no report is official.
        """
        staff, student = self.view("staff"), self.view("student")
        staff["official"] = student["official"] = _is_official(staff, self.assignment, demanded)
        return Views(staff=staff, student=student)

    def _decided(self, verdicts: Verdicts, audience: Audience) -> dict[str, Any]:
        scored = rubric.score(
            self.assignment.criteria,
            verdicts.outcomes,
            verdicts.planned,
            blank=ordering.blank(self.reading, self.assignment),
            missing=ordering.undefined(self.reading, self.assignment),
        )
        return report.build(
            assignment=self.assignment,
            # Its problems are among the others, less what running it has disproved.
            reading=replace(self.reading, problems=()),
            scored=scored,
            outcomes=rubric.complete(verdicts.outcomes, verdicts.planned),
            run=self.run,
            audience=audience,
            diagnoses=verdicts.diagnoses,
            problems=_merged(self.problems, verdicts.told(audience)),
            hidden_asked=verdicts.hidden_asked,
            output=report.Output(
                text=verdicts.output,
                truncated=verdicts.dropped_bytes > 0 or verdicts.output_tail != "",
                before_hidden=verdicts.before_hidden,
                cut_before_hidden=verdicts.cut_before_hidden,
            ),
        )

    def _undecided(
        self, audience: Audience, scored: tuple[Scored, ...], status: report.Status
    ) -> dict[str, Any]:
        return report.build(
            assignment=self.assignment,
            reading=self.reading,
            scored=scored,
            outcomes=(),
            run=self.run,
            audience=audience,
            problems=self.problems,
            status=status,
        )


def _merged(read: Sequence[Problem], ran: Sequence[Problem]) -> tuple[Problem, ...]:
    """The problems of reading and of running.

    That the last of two definitions counts is not true of one that failed when it was run.
    """
    kept = {name for each in ran for name in _names(each.message.args.get("kept"))}
    still_true = (
        each
        for each in read
        if each.kind != "defined_twice" or each.message.args.get("function") not in kept
    )
    return (*still_true, *ran)


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _is_official(staff: Mapping[str, Any], assignment: Assignment, demanded: str) -> bool:
    """Whether the complete suite decided, and what was run was locked in as demanded."""
    return (
        assignment.edition == "staff"
        and staff["status"] != "grader_failed"
        and staff["run"]["sandbox"]["level"] in (None, demanded)
        and all(each["verdict"] != "pending" for each in staff["criteria"])
    )


def run(
    started: datetime,
    duration_s: float,
    seed: int,
    verdicts: object,
    *,
    found: Mapping[str, str | None] | None = None,
) -> report.Run:
    """The record of one judging, whatever came of it.

    Args:
        found: the packages that a submission finds.
    """
    known = verdicts if isinstance(verdicts, Verdicts) else Verdicts()
    # Without a test that could be run no worker was started: nothing was locked into anything.
    ran = bool(known.outcomes)
    return report.Run(
        started_at=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        duration_s=round(duration_s, 3),
        seed=seed,
        grader_version=metadata.version("torchgrade"),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        packages=found or {},
        torch=known.torch or None,
        cpu_capability=known.cpu_capability or None,
        level=known.level if ran else None,
        layers=known.layers if ran else (),
        usage=known.usage,
        output_tail=known.output_tail,
        dropped_bytes=known.dropped_bytes,
    )
