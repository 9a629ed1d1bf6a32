"""Forks of the judge, in bulk: what one submission does to its judge never reaches the next."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_judge import PUBLIC, RIGHT, tiny

from grader import assignment, submission
from grader.errors import AssignmentError, GraderError
from grader.grading import Judge, Settings
from grader.model import Limits, Source
from grader.suite import chunks, messages
from grader.suite.benches import Benches
from grader.suite.chunks import Forks
from grader.suite.messages import Order
from grader.suite.orders import Tell

ORDER = Order(folder="", source=Source(kind="module", pieces=(), units=()), limits=Limits(), seed=0)


class NoBench:
    """Takes the place of a bench where no worker is needed."""

    level = "full"
    layers: tuple[str, ...] = ()

    def start(self, limits: object, output: object) -> Any:
        raise GraderError("no workers here")

    def close(self) -> None:
        pass


@pytest.fixture
def forks() -> Iterator[Callable[..., Forks]]:
    opened: list[Forks] = []

    def open_forks(
        judge: Callable[[Order, Tell], None],
        per_fork: int = 8,
        settled: Callable[[], bool] = lambda: True,
    ) -> Forks:
        opened.append(Forks(judge, settled, Benches(NoBench(), NoBench), per_fork))
        return opened[-1]

    yield open_forks
    for each in opened:
        each.close()


def answers(forks: Forks, count: int = 1, order: Order = ORDER) -> list[dict[str, Any]]:
    """The last message of each answer."""
    line = messages.order_line(order)
    return [json.loads(forks.answer(order, line).splitlines()[-1]) for _ in range(count)]


def tell_pid(order: Order, tell: Tell) -> None:
    tell({"now": "done", "pid": os.getpid()})


def test_a_fork_answers_as_many_orders_as_it_may(forks: Callable[..., Forks]) -> None:
    pids = [each["pid"] for each in answers(forks(tell_pid, per_fork=2), 5)]

    assert pids[0] == pids[1]
    assert pids[2] == pids[3]
    assert len({os.getpid(), *pids}) == 4


def test_an_answer_comes_whole_however_long_it_is(forks: Callable[..., Forks]) -> None:
    def judge(order: Order, tell: Tell) -> None:
        tell({"now": "outcome", "text": "x" * 300_000})
        tell({"now": "done"})

    lines = forks(judge).answer(ORDER, messages.order_line(ORDER)).splitlines()

    assert [len(json.loads(lines[0])["text"]), json.loads(lines[1])] == [300_000, {"now": "done"}]


def leave_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def leave_a_descriptor() -> None:
    os.dup(0)


@pytest.mark.parametrize("leave", [leave_a_thread, leave_a_descriptor])
def test_a_fork_in_which_something_is_left_gets_no_other_order(
    forks: Callable[..., Forks], leave: Callable[[], None]
) -> None:
    def judge(order: Order, tell: Tell) -> None:
        leave()
        tell_pid(order, tell)

    pids = {each["pid"] for each in answers(forks(judge), 3)}

    assert len(pids) == 3


def test_a_fork_with_a_fixture_that_is_still_up_gets_no_other_order(
    forks: Callable[..., Forks],
) -> None:
    pids = {each["pid"] for each in answers(forks(tell_pid, settled=lambda: False), 2)}

    assert len(pids) == 2


def test_a_fork_that_dies_once_costs_nothing(forks: Callable[..., Forks], tmp_path: Path) -> None:
    def judge(order: Order, tell: Tell) -> None:
        tell({"now": "outcome", "half": "of an answer"})
        if not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os._exit(9)
        tell_pid(order, tell)

    line = messages.order_line(ORDER)
    lines = forks(judge).answer(ORDER, line).splitlines()

    assert [json.loads(each)["now"] for each in lines] == ["outcome", "done"]


def die(order: Order, tell: Tell) -> None:
    os._exit(9)


def hang(order: Order, tell: Tell) -> None:
    time.sleep(60)


def fail(order: Order, tell: Tell) -> None:
    raise GraderError("the zygote is gone")


def eat(order: Order, tell: Tell) -> None:
    bytearray(3 << 30)


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (die, "the fork died: exit code 9"),
        (hang, "the fork gave no answer within 0 s"),
        (fail, "GraderError: the zygote is gone"),
        (eat, "the fork died: exit code 70"),
    ],
)
def test_a_submission_that_breaks_two_forks_is_broken_and_the_next_is_not(
    forks: Callable[..., Forks],
    monkeypatch: pytest.MonkeyPatch,
    judge: Callable[[Order, Tell], None],
    why: str,
) -> None:
    monkeypatch.setattr(chunks, "PATIENCE_S", 0.4)

    def judge_by_seed(order: Order, tell: Tell) -> None:
        if order.seed == 13:
            judge(order, tell)
        else:
            tell_pid(order, tell)

    opened = forks(judge_by_seed)
    bad = Order(folder="", source=ORDER.source, limits=Limits(total_s=0.0), seed=13)
    broken, fine = answers(opened, order=bad)[0], answers(opened)[0]

    assert (broken["now"], broken["kind"]) == ("broken", "twice")
    assert broken["detail"].count(why) == 2
    assert fine["now"] == "done"


def test_the_course_s_own_mistake_is_not_tried_twice(
    forks: Callable[..., Forks], tmp_path: Path
) -> None:
    def judge(order: Order, tell: Tell) -> None:
        with (tmp_path / "tries").open("a") as tries:
            tries.write("x")
        raise AssignmentError("no such text")

    told = answers(forks(judge))[0]

    assert (told["kind"], told["detail"]) == ("assignment", "no such text")
    assert (tmp_path / "tries").read_text() == "x"


def test_no_fork_is_left_behind(forks: Callable[..., Forks]) -> None:
    opened = forks(tell_pid)
    pid = answers(opened)[0]["pid"]

    opened.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# --- with real suites and submissions --------------------------------------------------------

FATAL = PUBLIC.replace(
    "    assert_close(student.half(8), 4.0, atol=0.0)",
    "    import os\n    if student.half(8) == 13.0:\n        os._exit(3)\n"
    "    assert_close(student.half(8), 4.0, atol=0.0)",
)
WRONG = RIGHT.replace("n / 2", "n / 3")
DEADLY = RIGHT.replace("n / 2", "13.0")


def bulk(course: Path, *texts: str, per_fork: int = 8) -> tuple[list[dict[str, Any]], list[str]]:
    """The staff reports outside `run` on these submissions, in one judge, and its failures."""
    found = assignment.find_all(course, {})[0]
    with Judge.start(Settings(per_fork=per_fork, audience="staff", time_factor=1.0)) as judge:
        reports = []
        for text in texts:
            path = course.parent / "submission.py"
            path.write_text(text)
            reports.append(judge.grade(submission.understand(submission.read(path)), found))
            del reports[-1]["run"]
        return reports, judge.failures


def test_a_judge_that_forks_gives_the_reports_of_one_that_does_not(tmp_path: Path) -> None:
    course = tiny(tmp_path / "course", reference=RIGHT)
    texts = [RIGHT, WRONG, "import os\nos._exit(1)", RIGHT, "x = 1", WRONG]

    forked, failures = bulk(course, *texts, per_fork=2)

    assert forked == bulk(course, *texts, per_fork=0)[0]
    assert failures == []
    assert forked[0] == forked[3]
    assert forked[1] == forked[5]


def test_a_submission_that_ends_its_judge_fails_alone(tmp_path: Path) -> None:
    course = tiny(tmp_path / "course", suite=FATAL, reference=RIGHT)

    reports, failures = bulk(course, RIGHT, DEADLY, RIGHT)

    assert [each["status"] for each in reports] == ["graded", "grader_failed", "graded"]
    assert [each["score"] for each in reports] == [10, None, 10]
    assert len(failures) == 1
    assert failures[0].count("exit code 3") == 2


def test_a_suite_that_its_own_reference_fails_grades_nobody(tmp_path: Path) -> None:
    course = tiny(tmp_path / "course", reference=WRONG)

    reports, failures = bulk(course, RIGHT)

    assert reports[0]["status"] == "grader_failed"
    assert "tiny: the reference itself loses points here: test_half (failed)" in failures[0]


def test_an_edition_without_a_reference_is_judged_in_forks_too(tmp_path: Path) -> None:
    course = tiny(tmp_path / "course")

    reports, failures = bulk(course, RIGHT, WRONG, per_fork=1)

    assert [each["score"] for each in reports] == [10, 4]
    assert failures == []
