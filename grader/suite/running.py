"""One submission on the desk: what is known of it so far, and the verdicts at the end."""

from dataclasses import asdict

import pytest
import torch

from grader.errors import AssignmentError, GraderError
from grader.model import Diagnosis, Json, Outcome, Planned
from grader.sandbox.link import Bench
from grader.sandbox.session import Session
from grader.suite import troubles
from grader.suite.lives import Lives
from grader.suite.messages import Verdicts
from grader.suite.outcomes import Reasons
from grader.suite.student import Student


class Run:
    """What is known so far of the submission on the desk."""

    def __init__(self, reasons: Reasons, session: Session, lives: Lives) -> None:
        self.reasons = reasons
        self.session = session
        self.lives = lives
        self.phases: list[Outcome] = []
        self.plan: Planned | None = None
        self.error: AssignmentError | GraderError | None = None
        self.before_hidden: int | None = None
        self.cut_before_hidden = False
        self.loaded_before_hidden: troubles.Loaded | None = None
        self.skipped_before_hidden: frozenset[int] = frozenset()
        self.calls_before = 0
        self.hidden_asked = False
        self.lost = False
        self.numbers: dict[str, Json] = {}
        self.diagnoses: tuple[Diagnosis, ...] = ()

    def begin(self, plan: Planned) -> None:
        self.plan, self.phases = plan, []
        self.calls_before = self.session.calls

    def end(self, plan: Planned) -> None:
        """Take note of whether the worker has met hidden inputs."""
        if plan.visibility == "hidden" and self.session.calls > self.calls_before:
            self.hidden_asked = True

    def add(self, item: pytest.Item, error: BaseException | None, student: Student | None) -> None:
        if self.plan is None:
            raise GraderError("a report without a test")
        if isinstance(error, AssignmentError | GraderError):
            self.error = self.error or error
        try:
            self.phases.append(self.reasons.outcome(self.plan, item, error, student))
        except AssignmentError as problem:
            self.error = self.error or problem
            self.phases.append(self.reasons.outcome(self.plan, item, problem, student))

    def close_the_shown_part(self) -> None:
        """Nothing that the submission says from now on is for the student's eyes.

        Also not what a replacement worker says while it loads the source again: the one before it
        may have died at a moment of its choice.
        """
        if self.before_hidden is None:
            output = self.session.output
            self.before_hidden = output.settled()
            self.cut_before_hidden = bool(output.tail)
            self.loaded_before_hidden = troubles.Loaded.by(self.session)
            self.skipped_before_hidden = self.session.skipped


def verdicts(run: Run, bench: Bench) -> dict[str, object]:
    """The part of `Verdicts` that is known at the end, as JSON."""
    run.close_the_shown_part()
    session, known_of = run.session, run.reasons.known
    whole = troubles.problems(troubles.Loaded.by(session), known_of)
    shown = troubles.problems(run.loaded_before_hidden or troubles.Loaded.by(session), known_of)
    printed = session.output.printed()
    known = asdict(
        Verdicts(
            problems=shown,
            late_problems=tuple(each for each in whole if each not in shown),
            hidden_asked=run.hidden_asked,
            output=printed.head,
            output_tail=printed.tail,
            before_hidden=run.before_hidden or 0,
            cut_before_hidden=run.cut_before_hidden,
            diagnoses=run.diagnoses,
            numbers=run.numbers,
            dropped_bytes=printed.dropped_bytes,
            usage=session.usage,
            level=bench.level,
            layers=bench.layers,
            torch=torch.__version__,
            cpu_capability=torch.backends.cpu.get_cpu_capability(),
            killed=session.killed,
        )
    )
    del known["planned"], known["outcomes"]
    return known
