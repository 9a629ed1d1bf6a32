"""OUT: names, the lock, what is found again, and what happens when it cannot be written."""

import csv
import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import a_report, an_assignment
from hypothesis import given
from hypothesis import strategies as st
from test_cli import ROOT

from grader import files
from grader.bulk import run_record, store, tables
from grader.bulk.archives import Locator
from grader.bulk.names import folder_name, student_of
from grader.bulk.plan import Job
from grader.bulk.store import NoRoom, named
from grader.errors import UsageProblem
from grader.model import Language
from grader.texts import catalog
from grader.texts.names import visible

NASTY = ['Smith, "Jo"', "two\nlines", "=1+1", "-2", "@x", "＝1", "李雷", "plain", "'quoted"]


# --- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("student", "folder"),
    [
        ("lee", "lee"),
        ("Lee", "%4Cee"),
        ("李雷", "%E6%9D%8E%E9%9B%B7"),
        ("a/b", "a%2Fb"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("con", "%63on"),
        ("nul.txt", "%6Eul.txt"),
        ("com10", "com10"),
        ("lee.", "lee%2E"),
        ("lee ", "lee%20"),
        ("100%", "100%25"),
        ("~", "%7E"),
    ],
)
def test_a_folder_name_is_safe_on_every_file_system(student: str, folder: str) -> None:
    assert folder_name(student) == folder
    assert student_of(folder) == student


@given(st.text(min_size=1), st.text(min_size=1))
def test_different_students_have_folders_that_differ_without_regard_to_case(
    one: str, other: str
) -> None:
    names = folder_name(one), folder_name(other)

    assert (one == other) == (names[0].casefold() == names[1].casefold())
    assert all(len(name) <= 150 and not name.startswith(".") for name in names)


# --- the tables ------------------------------------------------------------------------------


def a_run(students: list[str], **changes: Any) -> dict[str, Any]:
    planned = [
        {
            "student": student,
            "assignment": "hw1",
            "attempt": 1,
            "counts": True,
            "file": "x.py",
            "sha256": "0" * 64,
            "submitted_at": None,
            "late": False,
            "report": f"{folder_name(student)}/hw1.json",
        }
        for student in students
    ]
    people = [{"student": each, "name": each, "ids": {}} for each in students]
    run = {
        "assignments": [{"id": "hw1", "max_score": 10}],
        "planned": planned,
        "students": people,
        "absent": [],
        "unattributed": [],
        "aside": [],
        "duplicates": [],
    }
    return run | changes


def a_row(student: str, *, status: str = "graded", score: int | None = 7) -> tables.Row:
    return tables.Row(
        student=student,
        assignment="hw1",
        status=status,
        score=score,
        max_score=10,
        official=True,
    )


def read_csv(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_a_table_survives_every_name_and_computes_nothing() -> None:
    content = tables.scores_csv(a_run(NASTY), [a_row(each) for each in NASTY])

    rows = read_csv(content)
    seen = [row["student"] for row in rows]
    shown = [visible(each).removeprefix("'") for each in NASTY]
    assert [each.removeprefix("'") for each in seen] == shown
    assert not any(each.startswith(("=", "+", "-", "@", "＝")) for each in seen)
    assert {row["hw1"] for row in rows} == {"7"}
    assert content.startswith(b"\xef\xbb\xbfstudent,name,hw1,")
    assert content.endswith(b"\r\n")


def test_what_nobody_decided_is_blank_and_never_zero() -> None:
    rows = [
        a_row("failed", status="grader_failed", score=None),
        a_row("part", status="pending", score=None),
        a_row("zero", score=0),
    ]
    people = ["failed", "part", "zero", "lost"]
    run = a_run(people, absent=[{"student": "away", "assignment": "hw1"}])
    run["students"].append({"student": "away", "name": None, "ids": {}})

    found = {row["student"]: row for row in read_csv(tables.scores_csv(run, rows))}

    assert {key: row["hw1"] for key, row in found.items()} == {
        "failed": "",
        "part": "",
        "zero": "0",
        "lost": "",
        "away": "",
    }
    assert found["away"]["hw1_status"] == "missing"
    assert found["lost"]["hw1_status"] == "grader_failed"


def test_people_read_a_table_in_their_language_and_ids_keep_every_digit() -> None:
    students = ["0012301", "202600123456789", "2301", "=1+1"]
    run = a_run(students, absent=[{"student": "away", "assignment": "hw1"}])
    run["students"].append({"student": "away", "name": "王芳", "ids": {"sis": "007"}})

    content = tables.scores_for_people(run, [a_row(each) for each in students], "zh")
    rows = read_csv(content)
    machine = read_csv(tables.scores_csv(run, [a_row(each) for each in students]))

    assert [*rows[0]][:5] == ["学号", "姓名", "sis", "hw1", "hw1 满分"]
    assert [each["学号"] for each in rows] == [
        '="0012301"',
        '="202600123456789"',
        "2301",
        "'=1+1",
        "away",
    ]
    assert [each["hw1 状态"] for each in rows] == ["已评分"] * 4 + ["未提交"]
    assert (rows[0]["hw1"], rows[0]["hw1 正式成绩"], rows[4]["sis"]) == ("7", "是", '="007"')
    # What programs read stays as it is.
    assert machine[0]["student"] == "0012301"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_status_has_a_word_in_the_tables(language: Language) -> None:
    schema = json.loads((ROOT / "grader/schemas/run.schema.json").read_text("utf-8"))
    ungraded = schema["properties"]["ungraded"]["items"]["properties"]["status"]["enum"]
    own = ["graded", "unreadable", "grader_failed", "suite_failed", "pending", "missing"]

    for status in (*ungraded, *own, "not_on_roster"):
        assert catalog.say(language, f"bulk.table.status.{status}")


def test_the_summary_holds_numbers_and_no_names() -> None:
    content = tables.summary(a_run(["lee", "chen"]), [a_row("lee"), a_row("chen", score=9)])

    assert b"lee" not in content and b"chen" not in content
    assert json.loads(content)["assignments"]["hw1"]["scores"] == {"7": 1, "9": 1}


# --- reports ---------------------------------------------------------------------------------


def a_job(report: dict[str, Any], *, counts: bool = True) -> Job:
    return Job(
        student="Lee",
        assignment=report["assignment"]["id"],
        attempt=1,
        counts=counts,
        file="hw4.py" if report["submission"]["kind"] == "module" else "hw4.ipynb",
        locator=Locator(path="nowhere"),
        sha256=report["submission"]["sha256"],
    )


@pytest.fixture
def graded(tmp_path: Path) -> tuple[store.Store, Job, run_record.Conditions, str]:
    """A folder with both reports of one job."""
    assignment = an_assignment(tmp_path)
    staff, student = a_report(assignment), a_report(assignment, audience="student")
    job = a_job(staff)
    run = staff["run"]
    under = run_record.Conditions(
        seed=run["seed"],
        demanded="any",
        grader_version=run["grader_version"],
        python=run["python"],
        torch=run["torch"] or "2.13.0",
    )
    opened = store.Store(folder=tmp_path / "out")
    opened.write(job, named(staff, job, under.seed), named(student, job, under.seed))
    return opened, job, under, staff["assignment"]["digest"]


def test_an_earlier_report_holds_under_the_same_conditions_only(
    graded: tuple[store.Store, Job, run_record.Conditions, str],
) -> None:
    from dataclasses import replace

    opened, job, under, digest = graded

    assert opened.earlier(job, digest, under).state == "holds"
    assert opened.earlier(replace(job, sha256="1" * 64), digest, under).state == "none"
    assert opened.earlier(job, "1" * 64, under).state == "none"
    for change in ({"seed": 12345}, {"grader_version": "9"}, {"python": "2.7"}, {"torch": "1.0"}):
        assert opened.earlier(job, digest, replace(under, **change)).state == "none"  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"", b"{}", b'{"status": "graded"', b"\xff\xfe\x00"])
@pytest.mark.parametrize("view", ["reports", "feedback"])
def test_a_damaged_earlier_report_does_not_hold_and_is_told(
    graded: tuple[store.Store, Job, run_record.Conditions, str], view: Any, content: bytes
) -> None:
    opened, job, under, digest = graded
    opened.path(view, job).write_bytes(content)

    assert opened.earlier(job, digest, under).state == "damaged"


def test_a_report_moves_when_its_attempt_counts_no_more(
    graded: tuple[store.Store, Job, run_record.Conditions, str],
) -> None:
    from dataclasses import replace

    opened, job, under, digest = graded
    earlier = replace(job, counts=False)

    assert opened.earlier(earlier, digest, under).state == "holds"
    assert opened.path("reports", earlier).name == "hw4.attempt-1.json"
    assert opened.path("reports", earlier).is_file()


def test_a_full_disk_is_told_apart_and_leaves_whole_files(
    graded: tuple[store.Store, Job, run_record.Conditions, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, job, _, _ = graded
    path = opened.path("reports", job)
    before = path.read_bytes()

    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_rename_into", full)

    with pytest.raises(NoRoom):
        opened.put(path, b"other")
    assert path.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs permissions")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    with pytest.raises(UsageProblem, match="cannot be written"), store.locked(tmp_path / "out"):
        pass


# --- the lock --------------------------------------------------------------------------------


def test_a_second_process_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from grader.bulk import store\n"
        f"with store.locked(Path({str(tmp_path)!r})): pass"
    )
    with store.locked(tmp_path):
        result = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )

    assert result.returncode == 1
    assert f"process {os.getpid()} on" in result.stderr


def test_the_lock_of_a_process_that_is_gone_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / store.LOCK).write_text('{"pid": 1, "host": "elsewhere"}', encoding="utf-8")

    with store.locked(tmp_path) as opened:
        assert opened.folder == tmp_path


def test_what_was_being_written_when_a_run_was_killed_is_removed_by_the_next(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "reports" / "lee" / "hw4.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}", encoding="utf-8")
    for folder in (tmp_path, kept.parent):
        (folder / ".torchgrade-0123456789abcdef.tmp").write_text("{", encoding="utf-8")

    with store.locked(tmp_path):
        found = [each for each in tmp_path.rglob("*") if each.is_file()]

    assert sorted(found) == [tmp_path / store.LOCK, kept]
