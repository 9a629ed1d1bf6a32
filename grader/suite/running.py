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
        self.lost = False
        self.numbers: dict[str, Json] = {}
        self.diagnoses: tuple[Diagnosis, ...] = ()

    def begin(self, plan: Planned) -> None:
        self.plan, self.phases = plan, []

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
        if self.before_hidden is None:
            self.before_hidden = self.session.output.settled()


def verdicts(run: Run, bench: Bench) -> dict[str, object]:
    """The part of `Verdicts` that is known at the end, as JSON."""
    run.close_the_shown_part()
    session = run.session
    printed = session.output.printed()
    known = asdict(
        Verdicts(
            problems=troubles.problems(session, run.reasons.known),
            output=printed.head,
            output_tail=printed.tail,
            before_hidden=run.before_hidden or 0,
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
