"""One submission through a judge, whatever schedules it; and a batch whose disk is full."""

import errno
import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from builders import a_report, an_assignment, some_outcomes

from grader import files
from grader.assignment import Assignment
from grader.bulk import batch, engine, run_record, store
from grader.bulk.archives import Locator
from grader.bulk.batch import Batch, Progress, Reduced
from grader.bulk.engine import Lost, Result
from grader.bulk.plan import Job, Person, Plan
from grader.files import read_json
from grader.judged import Views
from grader.model import OpenedFile, Reading
from grader.submission import understand
from grader.suite.messages import Broken

CODE = b"def apply_rope(x): ...\n"


@dataclass
class FakeJudge:
    """Breaks as often as it is told to, then answers; remembers what it was shown."""

    assignment: Assignment
    breaks: list[Broken]
    broken: list[Broken] = field(default_factory=list)
    seen: list[Reading] = field(default_factory=list)
    closed: int = 0

    def both_views(self, reading: Reading, assignment: Assignment) -> Views:
        self.seen.append(reading)
        failed = bool(self.breaks)
        if failed:
            self.broken.append(self.breaks.pop())
        status = "grader_failed" if failed else "graded"
        return Views(
            staff=a_report(assignment, status=status),
            student=a_report(assignment, status=status, audience="student"),
        )

    def close(self) -> None:
        self.closed += 1


def a_job(student: str = "Lee", *, number: int = 1, path: str = "") -> Job:
    return Job(
        student=student,
        assignment="hw4",
        attempt=1,
        counts=True,
        file=f"{student}/secret name {number}.py",
        locator=Locator(path=path or f"nowhere/{student}"),
        sha256=hashlib.sha256(CODE).hexdigest(),
        submitted_at="2026-03-01T10:00:00Z",
    )


def graded(judge: FakeJudge, **options: Any) -> Result:
    opened = OpenedFile(submission=engine.handed_in(a_job()), content=CODE)
    reading = understand(opened, names=engine.entry_points({"hw4": judge.assignment}))
    return engine.grade_one(reading, judge.assignment, judge, **options)  # type: ignore[arg-type]


def broken(kind: Any) -> Broken:
    return Broken(kind=kind, detail="the reason")


def test_what_broke_a_judge_is_tried_once_more_in_a_fresh_one(tmp_path: Path) -> None:
    judge = FakeJudge(an_assignment(tmp_path), [broken("grader")])

    result = graded(judge)
    assert (result.views.staff["status"], result.failure, judge.closed) == ("graded", None, 1)


def test_what_breaks_two_judges_is_given_up(tmp_path: Path) -> None:
    judge = FakeJudge(an_assignment(tmp_path), [broken("grader"), broken("grader")])

    result = graded(judge)
    assert result.views.staff["status"] == "grader_failed"
    assert (result.failure, len(judge.seen)) == ("the reason", 2)


def test_a_broken_suite_and_a_batch_that_ends_are_not_tried_again(tmp_path: Path) -> None:
    suite = FakeJudge(an_assignment(tmp_path), [broken("assignment")])
    ended = FakeJudge(suite.assignment, [broken("grader")])

    graded(suite)
    graded(ended, stopped=lambda: True)
    assert (len(suite.seen), len(ended.seen), suite.closed, ended.closed) == (1, 1, 0, 0)


def test_nothing_below_the_front_desk_learns_student_file_or_date(tmp_path: Path) -> None:
    judge = FakeJudge(an_assignment(tmp_path), [])

    graded(judge)
    shown = judge.seen[0].submission
    assert (shown.student, shown.file, shown.submitted_at) == (None, "submission.py", None)
    assert "Lee" not in repr(judge.seen)


# --- a batch with an engine that is made up --------------------------------------------------


@dataclass
class FakeEngine:
    """Gives the same report for every job, or none."""

    assignment: Assignment
    lost: str = ""
    level: str | None = "full"
    breaks: str = ""
    asked: list[str] = field(default_factory=list)

    def run(self, planned: Sequence[Job]) -> Generator[tuple[Job, Result | Lost], None, None]:
        for job in planned:
            if job.student == self.lost:
                yield job, Lost(failure="gone")
                continue
            self.asked.append(job.student)
            outcomes = list(some_outcomes())
            if job.student == self.breaks:
                outcomes[0] = replace(outcomes[0], verdict="errored", detail="KeyError")
            staff = a_report(self.assignment, outcomes=outcomes, official=True)
            student = a_report(
                self.assignment, outcomes=outcomes, official=True, audience="student"
            )
            for view in (staff, student):
                view["run"]["sandbox"] = {"level": self.level, "layers": ["process"]}
                view["submission"]["sha256"] = job.sha256
            failure = "KeyError" if job.student == self.breaks else None
            yield job, Result(views=Views(staff=staff, student=student), failure=failure)


def a_batch(tmp_path: Path, assignment: Assignment, *students: str) -> Batch:
    jobs = tuple(a_job(each, number=at) for at, each in enumerate(students))
    plan = Plan(jobs=jobs, people=tuple(Person(student=each) for each in students))
    run = a_report(assignment)["run"]
    return Batch(
        plan=plan,
        whole=plan,
        assignments={"hw4": assignment},
        under=run_record.Conditions(
            seed=run["seed"],
            demanded="full",
            grader_version=run["grader_version"],
            python=run["python"],
            torch=run["torch"],
        ),
        store=store.Store(folder=tmp_path / "out"),
    )


def carried_out(todo: Batch, by: FakeEngine) -> batch.Finished:
    todo.store.folder.mkdir(exist_ok=True)
    told: list[Progress] = []
    return batch.carry_out(todo, by, told.append)


def test_a_file_that_is_gone_stops_nobody_and_is_blank_in_the_table(tmp_path: Path) -> None:
    assignment = an_assignment(tmp_path)
    todo = a_batch(tmp_path, assignment, "chen", "lee", "wu")

    finished = carried_out(todo, FakeEngine(assignment, lost="lee"))

    table = (todo.store.folder / "scores.csv").read_text("utf-8-sig").splitlines()
    assert [job.student for job, _ in finished.failed] == ["lee"]
    assert table[2].startswith("lee,,,,grader_failed,,")
    assert "gone" in (todo.store.folder / store.FAILURES).read_text("utf-8")
    again = carried_out(todo, FakeEngine(assignment))
    assert (again.reused, again.graded, again.failed) == (2, 1, ())
    assert not (todo.store.folder / store.FAILURES).exists()


def test_a_report_that_cannot_be_written_costs_that_job_in_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = an_assignment(tmp_path)
    todo = a_batch(tmp_path, assignment, "chen", "lee", "wu")
    rename = files._rename_into

    def but_one(path: Path, content: bytes) -> None:
        if "lee" in path.parts:
            raise OSError(errno.ENAMETOOLONG, "File name too long")
        rename(path, content)

    monkeypatch.setattr(files, "_rename_into", but_one)
    first = carried_out(todo, FakeEngine(assignment))
    again = carried_out(todo, FakeEngine(assignment))

    table = (todo.store.folder / "scores.csv").read_text("utf-8-sig").splitlines()
    assert [each.split(",")[4] for each in table[1:]] == ["graded", "grader_failed", "graded"]
    assert [job.student for job, _ in first.failed] == ["lee"]
    assert (again.reused, [job.student for job, _ in again.failed]) == (2, ["lee"])
    assert "cannot be written" in (todo.store.folder / store.FAILURES).read_text("utf-8")


def test_the_tables_are_there_before_old_attempts_are_graded(tmp_path: Path) -> None:
    assignment = an_assignment(tmp_path)
    todo = a_batch(tmp_path, assignment, "chen", "lee")
    old = replace(todo.plan.jobs[1], attempt=2, counts=False, locator=Locator(path="old"))
    plan = replace(todo.plan, jobs=(*todo.plan.jobs, old))
    table = todo.store.folder / "scores.csv"
    seen: list[tuple[str, bool]] = []

    class Watched(FakeEngine):
        def run(self, planned: Sequence[Job]) -> Generator[tuple[Job, Result | Lost], None, None]:
            for found in super().run(planned):
                seen.append((f"{found[0].student} {found[0].attempt}", table.exists()))
                yield found

    carried_out(replace(todo, plan=plan, whole=plan), Watched(assignment))

    assert [there for _, there in seen] == [False, False, True]
    # And before them, where an earlier run was ended meanwhile.
    table.unlink()
    (todo.store.folder / "reports" / "lee" / "hw4.attempt-2.json").unlink()
    carried_out(replace(todo, plan=plan, whole=plan), Watched(assignment))
    assert seen[-1] == ("lee 2", True)


def test_a_group_is_graded_once_and_each_member_has_reports_and_a_row(tmp_path: Path) -> None:
    assignment = an_assignment(tmp_path)
    todo = a_batch(tmp_path, assignment, "chen", "lee", "wu")
    together = tuple(replace(job, locator=Locator(path="team")) for job in todo.plan.jobs[:2])
    plan = replace(todo.plan, jobs=(*together, todo.plan.jobs[2]))
    by = FakeEngine(assignment)

    finished = carried_out(replace(todo, plan=plan, whole=plan), by)

    table = (todo.store.folder / "scores.csv").read_text("utf-8-sig").splitlines()
    assert by.asked == ["chen", "wu"]
    assert [line.partition(",")[0] for line in table[1:]] == ["chen", "lee", "wu"]
    assert (finished.graded, len(finished.rows)) == (3, 3)
    ids = {
        read_json(path)["submission"]["student"]  # type: ignore[index, call-overload]
        for path in (todo.store.folder / "feedback").glob("*/hw4.json")
    }
    assert ids == {"chen", "lee", "wu"}


def test_a_test_of_the_course_that_breaks_is_charged_to_nobody(tmp_path: Path) -> None:
    assignment = an_assignment(tmp_path)
    todo = a_batch(tmp_path, assignment, "chen", "lee")

    finished = carried_out(todo, FakeEngine(assignment, breaks="lee"))

    table = (todo.store.folder / "scores.csv").read_text("utf-8-sig").splitlines()
    assert [job.student for job, _ in finished.failed] == ["lee"]
    chen, lee = (line.split(",") for line in table[1:])
    assert chen[4:6] == ["graded", "yes"]
    assert lee[2] == "" and lee[4:6] == ["suite_failed", "no"]
    for view in ("reports", "feedback"):
        found = read_json(todo.store.folder / view / "lee" / "hw4.json")
        assert isinstance(found, dict) and found["official"] is False
    # Once the test is mended, the same command grades it again.
    again = carried_out(todo, FakeEngine(assignment))
    assert (again.reused, again.graded, again.failed) == (1, 1, ())


def test_a_weaker_sandbox_than_demanded_writes_no_report(tmp_path: Path) -> None:
    assignment = an_assignment(tmp_path)
    todo = a_batch(tmp_path, assignment, "lee")

    with pytest.raises(Reduced) as raised:
        carried_out(todo, FakeEngine(assignment, level="reduced"))
    assert raised.value.layers == ("process",)
    assert not (todo.store.folder / "reports").exists()


def test_a_full_disk_ends_the_run_and_the_next_one_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = an_assignment(tmp_path)
    todo = a_batch(tmp_path, assignment, "chen", "lee", "wu")
    rename = files._rename_into

    def until_full(path: Path, content: bytes) -> None:
        if "wu" in path.parts:
            raise OSError(errno.ENOSPC, "No space left on device")
        rename(path, content)

    monkeypatch.setattr(files, "_rename_into", until_full)
    with pytest.raises(store.NoRoom):
        carried_out(todo, FakeEngine(assignment))
    monkeypatch.setattr(files, "_rename_into", rename)

    finished = carried_out(todo, FakeEngine(assignment))
    assert (finished.reused, finished.graded) == (2, 1)
    assert run_record.read(todo.store.folder)["finished_at"] is not None


def test_fresh_grades_everything_again(tmp_path: Path) -> None:

    assignment = an_assignment(tmp_path)
    todo = a_batch(tmp_path, assignment, "chen", "lee")
    carried_out(todo, FakeEngine(assignment))

    finished = carried_out(replace(todo, fresh=True), FakeEngine(assignment))
    assert (finished.reused, finished.graded) == (0, 2)
