"""What arrives: exports of each platform, folders, names; and whose it is."""

import re
from pathlib import Path

import pytest

from grader.bulk import inbox
from grader.bulk.archives import Shelf
from grader.bulk.gradescope import submitters_of
from grader.bulk.inbox import Inbox
from grader.bulk.labels import copy_number, student_in
from grader.bulk.layers import Rules
from grader.bulk.moments import in_utc

EXPORTS = Path(__file__).parent / "data" / "exports"
IDS = ("hw1", "hw2")


def looked(root: Path, *, pattern: str | None = None, outside: Path | None = None) -> Inbox:
    rules = Rules(pattern=re.compile(pattern) if pattern else None, ids=IDS)
    return inbox.look(root, Shelf(), rules, outside=outside)


def owners(found: Inbox) -> dict[str, list[str]]:
    """The students by file."""
    whose: dict[str, list[str]] = {}
    for each in found.arrived:
        names = whose.setdefault(each.entry.shown, [])
        if each.named is not None:
            names.append(each.named.student)
    return whose


def without_source(found: Inbox) -> list[tuple[str | None, str]]:
    """Whoever handed in no script or notebook, and what it was."""
    return [(each.named.student if each.named else None, each.shown) for each in found.sourceless]


def files(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")
    return root


# --- the platforms ---------------------------------------------------------------------------


def test_canvas_writes_student_lateness_and_resubmission_into_the_name() -> None:
    found = looked(EXPORTS / "canvas")

    named = {each.named.student: each.named for each in found.arrived if each.named}
    assert set(named) == {"10101", "10102"}
    assert (named["10101"].name, named["10101"].late) == ("lovelaceada", True)
    assert (named["10101"].file, named["10101"].copy) == ("hw1-1.py", 1)
    assert named["10102"].late is False
    assert without_source(found) == [("10103", "wangfang_10103_880003_answer.txt")]


def test_gradescope_names_the_submitters_of_each_folder_and_a_group_has_several() -> None:
    found = looked(EXPORTS / "gradescope")

    assert owners(found) == {
        "submission_71000001/hw1.py": ["00123"],
        "submission_71000002/hw1.py": ["grace@example.edu", "00125"],
    }
    moments = {each.named.student: each.named.submitted_at for each in found.arrived if each.named}
    assert moments["00123"] == "2026-02-27T04:23:25Z"
    assert moments["00125"] == "2026-02-28T15:10:00Z"
    assert without_source(found) == []


def test_what_a_submission_printed_is_never_taken_for_gradescope_metadata() -> None:
    text = (EXPORTS / "gradescope" / "submission_metadata.yml").read_text("utf-8")

    assert set(submitters_of(text)) == {"submission_71000001", "submission_71000002"}


def test_metadata_that_is_no_yaml_names_nobody() -> None:
    assert submitters_of("submission_1:\n  :submitters: [{\n  :created_at: x\n") == {}


def test_moodle_names_the_participant_in_the_folder() -> None:
    found = looked(EXPORTS / "moodle")

    assert owners(found) == {
        "Ada Lovelace_4711_assignsubmission_file_/hw1.py": ["4711"],
        "Grace Hopper_4712_assignsubmission_file_/my work/hw1.ipynb": ["4712"],
        "王芳_4713_assignsubmission_file/hw1.py": ["4713"],
    }
    assert {each.named.name for each in found.arrived if each.named} == {
        "Ada Lovelace",
        "Grace Hopper",
        "王芳",
    }
    assert without_source(found) == []


def test_moodle_without_folders_names_the_participant_in_the_file(tmp_path: Path) -> None:
    files(tmp_path, "Ada Lovelace_4711_assignsubmission_file_hw1.py")

    named = looked(tmp_path).arrived[0].named
    assert named is not None
    assert (named.student, named.file) == ("4711", "hw1.py")


@pytest.mark.parametrize("root", [EXPORTS / "nbgrader", EXPORTS / "nbgrader" / "submitted"])
def test_nbgrader_says_student_assignment_and_time(root: Path) -> None:
    found = looked(root)

    named = {each.named.student: each.named for each in found.arrived if each.named}
    assert {key: each.hint for key, each in named.items()} == {"ada": "hw1", "grace": "hw1"}
    assert named["ada"].submitted_at == "2026-02-27T15:58:23Z"
    assert named["grace"].submitted_at == "2026-03-02T02:00:00Z"


def test_nbgraders_exchange_folders_name_student_assignment_and_time(tmp_path: Path) -> None:
    files(tmp_path, "ada+hw1+2026-02-27 15:58:23.948203 UTC/hw1.ipynb")

    named = looked(tmp_path).arrived[0].named
    assert named is not None
    assert (named.student, named.hint) == ("ada", "hw1")
    assert named.submitted_at == "2026-02-27T15:58:23Z"


def test_classroom_repositories_are_named_after_assignment_and_student(tmp_path: Path) -> None:
    root = tmp_path / "loops-submissions"
    for name in ("loops-octo-cat", "loops-mona"):
        files(root, f"{name}/hw1.py", f"{name}/utils/helper.py")
        (root / name / ".git").mkdir()
        (root / name / ".git" / "hook.py").write_text("", encoding="utf-8")

    found = looked(tmp_path)
    assert {each.named.student for each in found.arrived if each.named} == {"octo-cat", "mona"}
    assert len(found.arrived) == 4


# --- other folders ---------------------------------------------------------------------------


def test_a_folder_is_its_students_and_a_folder_named_after_an_assignment_is_not(
    tmp_path: Path,
) -> None:
    files(tmp_path, "lee/hw1.py", "lee/deep/hw2.py", "hw1/王芳.py", "chen_hw1.zip.d/a.py")

    found = owners(looked(tmp_path))
    assert found["lee/hw1.py"] == found["lee/deep/hw2.py"] == ["lee"]
    assert found["hw1/王芳.py"] == ["王芳"]


def test_one_folder_around_everything_is_nobody(tmp_path: Path) -> None:
    files(tmp_path, "class of 2026/lee/hw1.py", "class of 2026/chen/hw1.py")

    students = {each.named.student for each in looked(tmp_path).arrived if each.named}
    assert students == {"lee", "chen"}


@pytest.mark.parametrize(
    ("stem", "student"),
    [
        ("lee_hw1", "lee"),
        ("Smith, Jo hw1 (2)", "Smith, Jo"),
        ("hw2-Copy1", None),
        ("Copy of hw1", None),
        ("hw1 (2)", None),
        ("李雷_hw1", "李雷"),
        ("Homework 1 - Novak", "Novak"),
        ("2024110233 assignment", "2024110233"),
        ("ada.lovelace@example.edu_HW-01", "ada.lovelace@example.edu"),
        ("hw10_lee", "lee"),
    ],
)
def test_what_is_left_of_a_name_without_the_assignment_is_the_student(
    stem: str, student: str | None
) -> None:
    assert student_in(stem, IDS) == student


def test_a_pattern_finds_the_student_where_no_platform_wrote_it(tmp_path: Path) -> None:
    files(tmp_path, "group 3/u123456 final.py", "group 3/nobody.py")

    found = owners(looked(tmp_path, pattern=r"(?P<student>u\d{6})"))
    assert found == {"group 3/u123456 final.py": ["u123456"], "group 3/nobody.py": []}


def test_a_name_is_the_same_however_its_letters_are_composed(tmp_path: Path) -> None:
    files(tmp_path, "Mu\u0308ller_hw1.py")

    assert next(iter(owners(looked(tmp_path)).values())) == ["M\u00fcller"]


def test_litter_and_the_results_themselves_are_not_looked_at(tmp_path: Path) -> None:
    files(
        tmp_path,
        "lee/hw1.py",
        "lee/.ipynb_checkpoints/hw1-checkpoint.ipynb",
        "lee/__pycache__/hw1.py",
        "lee/env/pyvenv.cfg",
        "lee/env/lib/torch.py",
        "lee/venv/x.py",
        "__MACOSX/lee/._hw1.py",
        "lee/._hw1.py",
        "lee/.DS_Store",
        "out/reports/x.py",
    )

    assert list(owners(looked(tmp_path, outside=tmp_path / "out"))) == ["lee/hw1.py"]


@pytest.mark.parametrize(
    ("file", "number"),
    [
        ("hw1.py", 0),
        ("hw1 (2).py", 2),
        ("hw1-3.ipynb", 3),
        ("hw1 - Copy.py", 1),
        ("hw-Copy4.py", 4),
    ],
)
def test_copies_are_numbered_by_their_names(file: str, number: int) -> None:
    assert copy_number(file) == number


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T23:59+08:00", "2026-03-01T15:59:00Z"),
        ("2026-03-01 23:59:30.123 -0130", "2026-03-02T01:29:30Z"),
        ("2026-03-01T23:59Z", "2026-03-01T23:59:00Z"),
        ("2026-07-01 12:00:00.5 CEST", "2026-07-01T10:00:00Z"),
        ("2026-07-01 12:00:00 +0530", "2026-07-01T06:30:00Z"),
        ("2026-07-01 12:00:00 +08", "2026-07-01T04:00:00Z"),
        ("2026-01-01 12:00:00 PST", "2026-01-01T20:00:00Z"),
        ("2026-01-01 12:00:00 CST", None),
        ("2026-03-01T23:59", None),
        ("2026-02-31T23:59Z", None),
        ("2026-03-01 10:00 Mars/Base", None),
        ("2026-03-01 10:00 ../../etc", None),
        ("yesterday", None),
        ("2026-03-01T23:59+99:99", None),
        ("0999-01-01 00:00:00 UTC", None),
    ],
)
def test_a_moment_needs_a_day_a_time_and_a_zone(text: str, moment: str | None) -> None:
    assert in_utc(text) == moment
