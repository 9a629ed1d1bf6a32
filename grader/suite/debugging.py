"""`pytest -p grader.suite.plugin SUITE --submission FILE`: a suite under an editor's debugger.

The submission still runs behind the boundary; only the suite is stepped through. Limits are
stretched, because a breakpoint in a suite stops no clock of the worker, but printing does.
"""

import os
import shutil
import tempfile
from pathlib import Path

from grader import assignment as assignments
from grader import submission
from grader.errors import UsageProblem
from grader.sandbox.link import Output
from grader.sandbox.session import Session
from grader.suite.begin import open_bench
from grader.suite.plugin import Desk

PATIENCE = 30.0


class Lent:
    """One file, and a session with it for each assignment whose suite asks."""

    def __init__(self, file: Path, seed: int) -> None:
        self.file = file
        self.seed = seed
        self.folder = Path(tempfile.mkdtemp(prefix="torchgrade-")).resolve()
        self.lifeline, self.held = os.pipe()
        self.bench = open_bench("auto", self.folder, self.lifeline, _never)
        self.desks: dict[Path, Desk] = {}

    def desk(self, folder: Path) -> Desk:
        """The desk of the assignment in `folder`; the session of another one ends.

        Raises:
            UsageProblem: when the file cannot be run.
        """
        if folder not in self.desks:
            self._close_sessions()
            assignment = assignments.load(folder)
            entry_points = {entry.name: entry for entry in assignment.entry_points}
            reading = submission.understand(submission.read(self.file), names=entry_points)
            if reading.source is None:
                problems = "; ".join(each.message.en for each in reading.problems)
                raise UsageProblem(f"{self.file} cannot be run: {problems}")
            session = Session(
                bench=self.bench,
                source=reading.source,
                limits=assignment.limits.stretched(PATIENCE),
                output=Output(assignment.limits.output_kib),
            )
            self.desks[folder] = Desk(
                assignment=assignment.id,
                entry_points=entry_points,
                seed=self.seed,
                session=session,
            )
        return self.desks[folder]

    def close(self) -> None:
        self._close_sessions()
        self.bench.close()
        for descriptor in (self.lifeline, self.held):
            os.close(descriptor)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _close_sessions(self) -> None:
        for desk in self.desks.values():
            if desk.session is not None:
                desk.session.close()
        self.desks.clear()


def _never() -> None:
    """The lifeline is held by this very process."""
