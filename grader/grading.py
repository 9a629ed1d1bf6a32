"""The front desk: from a reading to its report, with a judge in a process of its own.

Theory of operation. `Judge.start` makes a private folder and starts the judge by exec, which
starts its own bench of workers; both import torch while this process reads files. One order at a
time goes down the judge's stdin, outcomes come back as they are found. The planned tests come
first, so that whatever is missing when the judge is gone was `not_run`. This process scores,
builds the report, and removes the folder; it never imports torch and never runs student code.
Whatever goes wrong on our side becomes a `grader_failed` report here, in `Judge.grade`, and
nowhere else.
"""

import contextlib
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal

from grader import judged, ordering, packages, submission
from grader.assignment import Assignment
from grader.errors import GraderError
from grader.judged import Judged, Views
from grader.model import Audience, Change, Json, Outcome, Planned, Reading
from grader.sandbox import launch, private, tasks
from grader.sandbox.watchdog import Watchdog
from grader.suite import messages
from grader.suite.messages import Broken, Order, Stage, Verdicts

SandboxChoice = Literal["auto", "full", "portable"]
# A judge that is silent for longer than its limits explain is given up: a bound for suites that
# hang, generous because a first `import torch` can take a minute.
PATIENCE_S, PATIENCE_FACTOR = 180.0, 20.0
END_S = 10.0
# Of a submission of which a worker is killed each time.
TRIES = 3
# In bulk: small enough that little is judged again after a death, large enough that a fork is
# hardly felt.
PER_FORK = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to grade; the defaults are those of `grade check`.

    Args:
        environment: what the judge's processes find in theirs beyond the usual, to choose how
            torch computes.
        per_fork: how many submissions a fork of the judge takes where it can fork; 0: it judges
            all of them itself, and does not try the suite on the reference first.
        preload: packages that a course names: imported once for many submissions. For a single one
            that would make everybody wait for what hardly anybody needs.
        demanded: the sandbox level without which nothing of a submission is run (`full`), or `any`.
    """

    seed: int = 0
    sandbox: SandboxChoice = "auto"
    time_factor: float = 3.0
    audience: Audience = "student"
    environment: Mapping[str, str] = field(default_factory=dict)
    per_fork: int = 0
    preload: tuple[str, ...] = ()
    demanded: str = "any"


def _nobody(_stage: Stage) -> None:
    """Hears what the judge is doing where nobody waits for it."""


@dataclass(slots=True, kw_only=True)
class Judge:
    """Grades readings one after the other. A context manager: processes end with it.

    Args:
        hear: is called with what the judge has begun to do for the submission of the moment.
    """

    settings: Settings
    hear: Callable[[Stage], None] = _nobody
    broken: list[Broken] = field(default_factory=list)
    _private: private.PrivateFolder | None = None
    _folder: Path | None = None
    _process: "subprocess.Popen[bytes] | None" = None
    _asked: bool = False
    _watchdog: Watchdog = field(default_factory=lambda: Watchdog(None))
    _faulty_on_reference: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def start(cls, settings: Settings) -> "Judge":
        """A judge whose processes are starting; torch loads while the caller goes on."""
        judge = cls(settings=settings)
        judge._launch()
        return judge

    def __enter__(self) -> "Judge":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def failures(self) -> list[str]:
        """What went wrong on our side so far, for staff."""
        return [each.detail for each in self.broken]

    def grade(
        self,
        reading: Reading,
        assignment: Assignment,
        *,
        seed: int | None = None,
        reverse: bool = False,
        diagnose: bool | None = None,
        until_lost: bool = False,
    ) -> dict[str, Any]:
        """The report of one file for one assignment, in the view of the settings' audience.

        Args:
            seed: another one than the settings have.
            reverse: run the tests in the other order.
            diagnose: whether a loss is looked into, whatever the assignment says about hints.
            until_lost: run no test after the first loss: only full marks are to be told apart.
        """
        settings = self.settings if seed is None else replace(self.settings, seed=seed)
        order = None
        if reading.source is not None:
            order = _order(reading, assignment, settings)
            order = replace(order, reverse=reverse, until_lost=until_lost)
            if diagnose is not None:
                order = replace(order, diagnose=diagnose)
        return self._judged(order, reading, assignment, settings).view(settings.audience)

    def both_views(
        self, reading: Reading, assignment: Assignment, *, demanded: str = "full"
    ) -> Views:
        """What staff and what the student may see, from one judging.

        Args:
            demanded: the sandbox level below which no report is official.
        """
        order = None
        if reading.source is not None:
            order = _order(reading, assignment, self.settings)
        return self._judged(order, reading, assignment, self.settings).both_views(demanded)

    def _judged(
        self,
        order: Order | None,
        reading: Reading,
        assignment: Assignment,
        settings: Settings,
    ) -> Judged:
        started, began = datetime.now(UTC), time.monotonic()
        # Before the judge is waited for: at first it is still loading torch.
        found = packages.versions(assignment.packages or ())
        problems = (
            *reading.problems,
            *ordering.missing(reading, assignment),
            *ordering.unlisted(reading, assignment),
        )
        verdicts = None if order is None else self._verdicts(order, assignment)
        if isinstance(verdicts, Broken):
            self.broken.append(verdicts)
        return Judged(
            reading=reading,
            assignment=assignment,
            verdicts=verdicts,
            run=judged.run(
                started,
                time.monotonic() - began,
                settings.seed,
                verdicts,
                found=found,
            ),
            problems=problems,
        )

    def numbers(
        self, reading: Reading, assignment: Assignment, changes: Mapping[str, Change]
    ) -> Mapping[str, Json]:
        """What the file gives on the assignment's probes, by probe; no test is run.

        Raises:
            GraderError: when the judge gave no answer.
        """
        order = _order(reading, assignment, self.settings)
        seen = self._judge(replace(order, only_probes=True, changes=changes))
        if isinstance(seen, Broken):
            raise GraderError(seen.detail)
        return seen.numbers

    def close(self) -> None:
        """End the judge, its workers, and their folder. Idempotent."""
        process, self._process = self._process, None
        self._watchdog.over.set()
        if process is not None:
            if not self._asked:
                # It is still loading PyTorch, and there is nothing that it could lose.
                process.kill()
            _end(process)
        folder, self._private, self._folder = self._private, None, None
        if folder is not None:
            folder.remove()

    # --- the judge's process --------------------------------------------------------------

    def _launch(self) -> None:
        self._private = private.make()
        self._folder = self._private.path
        for name in ("judge", "bench"):
            (self._folder / name).mkdir(mode=0o700)
        program = (
            "from grader.suite.begin import main;"
            f" main({str(self._folder)!r}, {self.settings.sandbox!r}, {self.settings.per_fork},"
            f" {self.settings.preload!r})"
        )
        with (self._folder / "stderr").open("wb") as stderr:
            self._process = tasks.started(lambda: self._begin(program, stderr))
        self._asked = False
        self._watchdog = Watchdog(self._process)
        tasks.started(self._watchdog.start)
        # Keys in the environment, and all other submissions: here as well as in the judge.
        launch.hide()

    def _begin(self, program: str, stderr: IO[bytes]) -> "subprocess.Popen[bytes]":
        folder, held = self._folder, self._private
        if folder is None or held is None:
            raise GraderError("the judge has no folder")
        return subprocess.Popen(
            launch.command(program),
            cwd=folder / "judge",
            env={**launch.environment(folder), **self.settings.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            # Whoever outlives the other must still be seen to use the folder.
            pass_fds=held.passed_on,
            # Ctrl-C is for the front desk alone.
            **launch.own_group(),
        )

    def _verdicts(self, order: Order, assignment: Assignment) -> Verdicts | Broken:
        """What the judge says; what errs on the reference, too, is the suite's fault."""
        verdicts = self._judge(order)
        for _ in range(TRIES - 1):
            # By itself, or by something that has nothing to do with it: another time tells.
            if isinstance(verdicts, Verdicts) and verdicts.killed:
                verdicts = self._judge(order)
        if isinstance(verdicts, Broken):
            return verdicts
        errored = {each.test for each in verdicts.outcomes if each.verdict == "errored"}
        faulty = errored and errored & self._faulty(assignment)
        if faulty:
            return Broken(
                kind="assignment",
                detail=f"{assignment.id}: fails on the reference, too: {', '.join(sorted(faulty))}",
            )
        return verdicts

    def _faulty(self, assignment: Assignment) -> frozenset[str]:
        """The tests that err on the reference."""
        path = assignment.folder / "reference.py"
        if not path.is_file():
            return frozenset()
        if assignment.id not in self._faulty_on_reference:
            names = [entry.name for entry in assignment.entry_points]
            reading = submission.understand(submission.read(path), names=names)
            seen = self._judge(_order(reading, assignment, self.settings))
            outcomes = seen.outcomes if isinstance(seen, Verdicts) else ()
            self._faulty_on_reference[assignment.id] = frozenset(
                each.test for each in outcomes if each.verdict == "errored"
            )
        return self._faulty_on_reference[assignment.id]

    def _judge(self, order: Order) -> Verdicts | Broken:
        """The verdicts on one order, from a judge that is started again if it has to be."""
        if self._process is None:
            self._launch()
        process = self._process
        if process is None or process.stdin is None:
            raise GraderError("the judge has no stdin")
        patience = PATIENCE_S + PATIENCE_FACTOR * order.limits.total_s
        watchdog = self._watchdog
        watchdog.deadline = time.monotonic() + patience
        self._asked = True
        try:
            process.stdin.write(messages.order_line(order))
            process.stdin.flush()
            return self._listen(process)
        except (OSError, ValueError, KeyError, TypeError, GraderError) as error:
            detail = f"{error!r}\n{self._last_words()}"
            self.close()
            return Broken(kind="grader", detail=detail)
        finally:
            watchdog.deadline = math.inf

    def _listen(self, process: "subprocess.Popen[bytes]") -> Verdicts | Broken:
        planned: tuple[Planned, ...] = ()
        outcomes: list[Outcome] = []
        for message in messages.read_lines(process.stdout):
            match message["now"]:
                case "planned":
                    planned = messages.planned_from(message)
                case "loading" | "testing" as stage:
                    self.hear(stage)
                case "outcome":
                    outcomes.append(messages.outcome_from(message))
                case "done":
                    return messages.done_from(message, planned, tuple(outcomes))
                case "broken":
                    layers = tuple(message.get("layers", ()))
                    return Broken(
                        kind=message["kind"], detail=str(message["detail"]), layers=layers
                    )
        raise GraderError("the judge ended without an answer")

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            if self._folder is not None:
                return (self._folder / "stderr").read_text("utf-8", "replace")[-4000:]
        return ""


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End of file ends the judge and its bench; one that does not listen is killed."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _order(reading: Reading, assignment: Assignment, settings: Settings) -> Order:
    seed, factor = settings.seed, settings.time_factor
    made = ordering.order(reading, assignment, seed=seed, time_factor=factor)
    return replace(made, demanded=settings.demanded)
