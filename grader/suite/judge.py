"""The judge: a process that runs suites against submissions and tells the outcomes.

Theory of operation. The front desk starts this program by exec, in an empty private folder and
with an environment from nothing. Orders come in on stdin, one JSON line each; answers go out on
a private copy of stdout (`messages`). The judge starts a bench of workers of its own (a zygote, or
the portable way), so that torch loads in both at once. It calls `pytest.main` once per assignment:
the suite is collected once, and `pytest_runtestloop` takes orders, one submission after the other,
until one comes for another assignment. In bulk it first judges the reference, and then forks for
every few submissions (`chunks`). Student code never enters this process, only numbers do; nothing
beside the submission is ever looked at. On end of file the judge ends, and with it the workers.
"""

import contextlib
import re
import sys
import tempfile
import tomllib
import traceback
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from grader import diagnosis, submission
from grader.assignment import Assignment
from grader.assignment import load as load_assignment
from grader.errors import AssignmentError, GraderError
from grader.explaining import knowledge
from grader.model import Diagnosis, Json, Outcome, Planned, Text
from grader.sandbox.link import Output
from grader.sandbox.session import Session, Spent, TooWeak
from grader.suite import messages, plugin, probes
from grader.suite.benches import Benches
from grader.suite.finite import render
from grader.suite.lives import Lives
from grader.suite.messages import Order
from grader.suite.orders import Queue, Tell, teller, write
from grader.suite.outcomes import Reasons, worst
from grader.suite.raising import Known
from grader.suite.running import Run, verdicts

# Possessive: what a student writes is searched in time that grows with its length and no faster.
# Signs that a call may depend on earlier ones: names that outlive a call, caches, objects. Only
# such a submission is worth a second worker when no mistake is recognised in the first.
_REMEMBERS = re.compile(
    r"\b(?:global|nonlocal|class)\b|cache|^\w++[ \t]*+(?::[^=\n]++)?=(?!=)|\w\.\w++[ \t]*+=(?!=)"
    r"|=\s*+[\[{]",
    re.MULTILINE,
)
# Plain signs of it: a table that is filled from call to call.
_KEEPS = re.compile(
    r"\b(?:global|nonlocal)\b|cache|setdefault"
    r"|^[ \t]*+[\w.]++[ \t]*+(?::[^=\n]++)?=\s*+(?:\{|\[\s*+\]|dict\(|None\b)",
    re.MULTILINE,
)
# Of a submission's time, for the calls that a hint rests on.
PROBES_SHARE = 0.5
# Parts of pytest that a judge has no use for; each costs time, or looks around on the disk.
_OFF = (
    "cacheprovider",
    "capture",
    "debugging",
    "doctest",
    "faulthandler",
    "junitxml",
    "logging",
    "pastebin",
    "setuponly",
    "setupplan",
    "stepwise",
    "subtests",
    "terminal",
    "tmpdir",
    "unittest",
    "warnings",
)


def serve(benches: Benches, orders: int, answers: int, *, per_fork: int) -> None:
    """Judge the orders on descriptor `orders` until it closes.

    Args:
        per_fork: how many submissions a fork of this process judges; 0: it judges them itself.
    """
    torch.set_num_threads(1)
    tell = teller(answers)
    queue = Queue(orders)
    try:
        while (order := queue.peek()) is not None:
            if not _judge_assignment(order.folder, benches, queue, answers, per_fork):
                # What broke it (a zygote that student code has killed) must not cost the next.
                benches.renew()
    except BaseException as error:  # noqa: BLE001 - the last words of this process
        # A front desk that was killed does not hear them.
        with contextlib.suppress(BrokenPipeError):
            tell({"now": "broken", "kind": "grader", "detail": _last_words(error)})
    finally:
        benches.current.close()


def _last_words(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-4000:]


def _judge_assignment(
    folder: str, benches: Benches, queue: Queue, answers: int, per_fork: int
) -> bool:
    """Collect the suite once and judge all orders in a row that are for this assignment.

    False when the grader itself failed.
    """
    tell = teller(answers)
    try:
        assignment = load_assignment(Path(folder))
        driver = Driver(assignment, benches, queue, answers, per_fork)
        with tempfile.TemporaryDirectory(prefix="judge-") as private:
            code = pytest.main(_arguments(assignment, Path(private)), plugins=[plugin, driver])
        _forget_modules(assignment.folder)
        if driver.error is not None:
            raise driver.error
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            reason = driver.collect_errors or f"pytest ended with {code!r}"
            raise AssignmentError(f"{assignment.id}: the suite cannot be run: {reason}")
    except AssignmentError as error:
        queue.take()
        tell({"now": "broken", "kind": "assignment", "detail": str(error)})
    except TooWeak as error:
        queue.take()
        tell(messages.too_weak(error.level, error.layers))
    except GraderError as error:
        queue.take()
        tell({"now": "broken", "kind": "grader", "detail": _last_words(error)})
        return False
    return True


def _forget_modules(folder: Path) -> None:
    """Every suite has a `test_public`; the next one must not get this one's from `sys.modules`."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and Path(file).is_relative_to(folder):
            del sys.modules[name]


def _arguments(assignment: Assignment, private: Path) -> list[str]:
    """pytest's arguments: an ini file of our own, nothing found by searching."""
    suite = assignment.folder / "suite"
    ini = private / "judge.ini"
    ini.write_text("[pytest]\n", "utf-8")
    files = sorted(suite.glob("test_*.py"), key=lambda each: ("hidden" in each.name, each.name))
    if not files:
        raise AssignmentError(f"{assignment.id}: there is no test_*.py in {suite.name}/")
    return [
        *(str(file) for file in files),
        f"-c{ini}",
        f"--rootdir={suite}",
        f"--confcutdir={suite}",
        "--import-mode=importlib",
        "--assert=plain",
        "--strict-markers",
        *(f"-pno:{name}" for name in _OFF),
    ]


class Driver:
    """Drives one collected suite over the submissions that are ordered."""

    def __init__(
        self, assignment: Assignment, benches: Benches, queue: Queue, answers: int, per_fork: int
    ) -> None:
        self.assignment = assignment
        self.benches = benches
        self.queue = queue
        self.answers = answers
        self.per_fork = per_fork
        self.tell = teller(answers)
        self.error: AssignmentError | GraderError | None = None
        self.collect_errors = ""
        self.run: Run | None = None
        known = knowledge.load(assignment.folder / "diagnosis.json")
        self.diagnostician = (
            None if known is None else diagnosis.Diagnostician(known, probes.questions(assignment))
        )
        self.desk = plugin.Desk(
            assignment=assignment.id,
            entry_points={entry.name: entry for entry in assignment.entry_points},
        )

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[plugin.DESK] = self.desk

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # A skipped file would leave criteria that nothing decides.
        if report.failed or report.skipped:
            self.collect_errors += f"{report.nodeid}: {report.longreprtext}\n"

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        # Shown tests first: from the first hidden call on, nothing the worker says is shown.
        items.sort(key=lambda item: plugin.visibility_of(item) == "hidden")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if self.collect_errors:
            raise pytest.UsageError("the suite cannot be collected")
        try:
            planned = _planned(self.assignment, session.items)
            if self.per_fork and self.benches.can_fork():
                self._answer_in_forks(session.items, planned)
            else:
                self._answer(session.items, planned)
        except AssignmentError as error:
            # Every suite has a test_public.py: only the assignment says which one is meant.
            self.error = AssignmentError(*(f"{self.assignment.id}: {e}" for e in error.problems))
        except GraderError as error:
            self.error = error
        return True

    def _orders(self) -> Iterator[Order]:
        """The orders in a row that are for this assignment."""
        while (order := self.queue.peek()) and order.folder == str(self.assignment.folder):
            yield order
            # Taken only when it has been answered: a failure there answers it as broken.
            self.queue.take()

    def _answer(self, items: list[pytest.Item], planned: tuple[Planned, ...]) -> None:
        for order in self._orders():
            self._judge(order, items, planned)

    def _answer_in_forks(self, items: list[pytest.Item], planned: tuple[Planned, ...]) -> None:
        # Only Linux has what this module needs.
        from grader.suite.chunks import Forks

        def judge(order: Order, tell: Tell) -> None:
            self.tell = tell
            self._judge(order, items, planned)

        def settled() -> bool:
            return plugin.is_settled(items[0].session)

        self._prove(items, planned)
        with closing(Forks(judge, settled, self.benches, self.per_fork)) as forks:
            for order in self._orders():
                write(self.answers, forks.answer(order, self.queue.line))

    def _prove(self, items: list[pytest.Item], planned: tuple[Planned, ...]) -> None:
        """Judge the reference: it warms what is forked later, and tries the suite on this machine.

        Raises:
            AssignmentError: when it loses a point here.
        """
        order, path = self.queue.peek(), self.assignment.folder / "reference.py"
        if order is None or not path.is_file():
            return
        lost: list[str] = []

        def hear(message: Mapping[str, object]) -> None:
            match message:
                case {"outcome": {"test": test, "verdict": verdict}} if verdict != "passed":
                    lost.append(f"{test} ({verdict})")

        if order.diagnose and self.diagnostician is not None:
            self.diagnostician.warm()
        tell, self.tell = self.tell, hear
        names = [entry.name for entry in self.assignment.entry_points]
        source = submission.understand(submission.read(path), names=names).source
        if source is not None:
            limits = self.assignment.limits
            known = Order(folder=order.folder, source=source, limits=limits, seed=order.seed)
            self._judge(known, items, planned)
        self.tell = tell
        if lost:
            raise AssignmentError(f"the reference itself loses points here: {', '.join(lost)}")

    def _judge(self, order: Order, items: list[pytest.Item], planned: tuple[Planned, ...]) -> None:
        self.tell({"now": "planned", "tests": [asdict(each) for each in planned]})
        bench = self.benches.current
        output = Output(order.limits.output_kib)
        session = Session(
            bench=bench,
            source=order.source,
            limits=order.limits,
            output=output,
            demanded=order.demanded,
        )
        self.desk.session, self.desk.seed = session, order.seed
        lives = Lives(self.assignment.criteria, planned, session)
        self.run = run = Run(self._reasons(order, session), session, lives)
        try:
            if not order.only_probes:
                self._run_items(order, items, planned)
            if run.error is None and (order.only_probes or (run.lost and order.diagnose)):
                self._probe(order, run)
        finally:
            session.close()
            self.desk.session = None
        if self.run.error is not None:
            raise self.run.error
        self.tell({"now": "done", "verdicts": verdicts(self.run, bench)})

    def _probe(self, order: Order, run: Run) -> None:
        """After the last test: the numbers on the probes, and whose numbers they are.

        A hint is for the student, so what it rests on comes from a worker that has met no hidden
        input. It has lives and time of its own: whether there is a hint must not depend on what
        the others have used up.
        """
        run.close_the_shown_part()
        if order.only_probes:
            numbers = probes.run(self.assignment, run.session, order.changes)
            run.numbers = {id: knowledge.numbers_json(each) for id, each in numbers.items()}
        elif self.diagnostician is not None and run.hidden_asked:
            run.session.close()
            total_s = order.limits.total_s * PROBES_SHARE
            fresh = run.session.fresh(total_s=total_s, without=run.skipped_before_hidden)
            with closing(fresh):
                run.diagnoses = self._diagnoses(fresh, self.diagnostician, order, is_fresh=True)
        elif self.diagnostician is not None:
            # Whatever the first worker's numbers look like, they may be those of the arguments of
            # the tests, where something is kept from call to call.
            keeps = _shows(_KEEPS, order)
            if keeps:
                run.session.close()
            run.diagnoses = self._diagnoses(run.session, self.diagnostician, order, is_fresh=keeps)

    def _diagnoses(
        self,
        session: Session,
        diagnostician: diagnosis.Diagnostician,
        order: Order,
        *,
        is_fresh: bool,
    ) -> tuple[Diagnosis, ...]:
        found = diagnostician.diagnose(probes.run(self.assignment, session, order.changes))
        if not found and not is_fresh and _shows(_REMEMBERS, order):
            # What a submission remembers of the tests' calls hides whose numbers these are.
            session.close()
            found = diagnostician.diagnose(probes.run(self.assignment, session, order.changes))
        return found or diagnostician.random(probes.restless(self.assignment, session))

    def _run_items(
        self, order: Order, items: list[pytest.Item], planned: tuple[Planned, ...]
    ) -> None:
        pairs = [
            (item, plan)
            for item, plan in zip(items, planned, strict=True)
            if plan.criterion not in order.skipped
        ]
        if order.reverse:
            # Still the shown tests first: a sort keeps the order of what it finds equal.
            pairs.reverse()
            pairs.sort(key=lambda pair: pair[1].visibility == "hidden")
        if pairs:
            self._load()
        for position, (item, plan) in enumerate(pairs):
            following = pairs[position + 1][0] if position + 1 < len(pairs) else None
            outcome = self._run_item(item, plan, following)
            if self.run is not None and outcome.verdict != "passed":
                self.run.lost = True
            self.tell({"now": "outcome", "outcome": asdict(outcome)})
            if self.run is None or self.run.error is not None:
                return
            if order.until_lost and self.run.lost and following is not None:
                # Fixtures of the module are still up for a test that is not run. Only pytest's own
                # state can take them down; a test of ours would notice if it changed.
                item.session._setupstate.teardown_exact(None)
                return

    def _load(self) -> None:
        """Run the submission's own statements before the first test, and say so meanwhile."""
        self.tell({"now": "loading"})
        if self.desk.session is not None:
            # One whose lives or time are used up says so to each test, which is then not run.
            with contextlib.suppress(Spent):
                self.desk.session.load()
        self.tell({"now": "testing"})

    def _run_item(self, item: pytest.Item, plan: Planned, following: pytest.Item | None) -> Outcome:
        run = self.run
        if run is None:
            raise GraderError("no run")
        if plan.visibility == "hidden":
            run.close_the_shown_part()
        run.begin(plan)
        self.desk.refusal = run.lives.refusal(plan)
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        run.end(plan)
        outcome = worst(run.phases)
        run.lives.count(plan, outcome)
        return outcome

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        """A bare report: rendering a traceback with its tensors costs more than the test."""
        error = call.excinfo.value if call.excinfo is not None else None
        if self.run is not None:
            self.run.add(item, error, self.desk.students.get(item.name))
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="passed" if error is None else "failed",
            longrepr=None,
            when=call.when if call.when != "collect" else "call",
        )

    def _reasons(self, order: Order, session: Session) -> Reasons:
        known = Known(
            source=order.source,
            entry_points=self.desk.entry_points,
            rebound=order.rebound,
            bound=order.bound,
            layers=self.benches.current.layers,
        )
        return Reasons(self._own_text, self._has_text, order.places, session, known)

    def _own_text(self, code: str, args: Mapping[str, Json]) -> Text:
        return own_text(self.assignment, code, args)

    def _has_text(self, code: str) -> bool:
        return has_text(self.assignment, code)


def own_text(assignment: Assignment, code: str, args: Mapping[str, Json]) -> Text:
    """A sentence of the assignment's `texts.toml`.

    Raises:
        AssignmentError: when it has none with this code in English.
    """
    path = assignment.folder / "texts.toml"
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
        english = render(str(tables["en"][code]), args)
        chinese = render(str(tables.get("zh", {}).get(code, tables["en"][code])), args)
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise AssignmentError(f"{assignment.id}/texts.toml: [en] {code}: {error!r}") from error
    return Text(code=f"{assignment.id}.{code}", args=args, en=english, zh=chinese)


def has_text(assignment: Assignment, code: str) -> bool:
    """Whether the assignment's `texts.toml` has a sentence with this code."""
    path = assignment.folder / "texts.toml"
    if not path.is_file():
        return False
    try:
        return code in tomllib.loads(path.read_text("utf-8")).get("en", {})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AssignmentError(f"{assignment.id}/texts.toml: {error!r}") from error


def _planned(assignment: Assignment, items: list[pytest.Item]) -> tuple[Planned, ...]:
    known = {criterion.id for criterion in assignment.criteria}
    planned, problems = [], []
    for item in items:
        criterion = plugin.criterion_of(item)
        if criterion not in known:
            problems.append(f"{item.nodeid}: rubric.toml has no criterion {criterion!r}")
        if item.get_closest_marker("skip") or item.get_closest_marker("xfail"):
            problems.append(f"{item.nodeid}: a suite may not skip or expect failures")
        planned.append(
            Planned(test=item.name, criterion=criterion, visibility=plugin.visibility_of(item))
        )
    if problems:
        raise AssignmentError(*problems)
    return tuple(planned)


def _shows(signs: "re.Pattern[str]", order: Order) -> bool:
    return any(signs.search(each.text) for each in order.source.pieces)
