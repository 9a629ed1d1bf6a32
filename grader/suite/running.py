"""One submission on the desk: what is known of it so far, and the verdicts at the end."""

from collections.abc import Sequence
from dataclasses import asdict

import pytest
import torch

from grader.errors import AssignmentError, GraderError
from grader.model import Diagnosis, Died, Json, Outcome, Place, Planned, Problem, Raised
from grader.sandbox.link import Bench
from grader.sandbox.session import Session, Trouble
from grader.suite import causes
from grader.suite.lives import Lives
from grader.suite.messages import Verdicts
from grader.suite.outcomes import Reasons
from grader.suite.student import Student
from grader.texts import catalog


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
            problems=tuple(
                _problem(each, [unit.text for unit in session.source.units])
                for each in session.troubles
            ),
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
        )
    )
    del known["planned"], known["outcomes"]
    return known


def _problem(trouble: Trouble, texts: Sequence[str]) -> Problem:
    """What happened while the source was loaded, at its place in the student's own file."""
    unit, seen = trouble.unit, trouble.observation
    line = unit.line
    kind, code = "", ""
    args: dict[str, Json] = {}
    match seen:
        case Raised():
            frame = next((each for each in seen.trace if each.cell == unit.cell), None)
            line = frame.line if frame else line
            args = causes.words(seen.type, seen.message)
        case Died():
            kind = code = seen.cause
    lines = unit.text.split("\n")[line - unit.line : line - unit.line + 1]
    quote = (lines or [""])[0].strip()
    if isinstance(seen, Raised):
        kind, code = causes.of_statement(seen, quote, texts, is_assert=trouble.is_assert)
        if code == "platform":
            args["platform"] = causes.platform(seen.type, seen.message, quote)
    where = "cell" if unit.cell is not None else "file"
    return Problem(
        kind=kind,
        message=catalog.text(f"problem.{where}.{code}", **args),
        place=Place(line=line, cell=unit.cell, quote=quote[:120]),
    )
