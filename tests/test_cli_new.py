"""`grade new`: an assignment that already verifies, copies, and that nothing is ever lost by it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from test_cli import LOCALE, ROOT, err, grade, out

from grader import assignment as assignments
from grader import misconceptions

MADE = """\
Made {folder} with
  assignment.toml
  diagnosis.json
  gallery/accepted/loop.py
  gallery/misconceptions/weights_along_the_vector.py
  handout.md
  handout.zh.md
  misconceptions.toml
  reference.py
  rubric.toml
  suite/public_values.json
  suite/test_hidden.py
  suite/test_public.py
  template.py
  template.zh.py

Next:
  1. Change it into your own: reference.py, the suite and handout.md first.
     How, step by step: docs/writing-an-assignment.md
  2. See what the model solution earns.
       grade check {reference} --assignment hw5 --assignments course
  3. After each change, write the stored results anew and prove the
     assignment.
       grade verify hw5 --update --assignments course
       grade verify hw5 --strict --assignments course
"""


def new(*arguments: str, cwd: Path, code: int = 0) -> str:
    """What `grade new` prints; it must end with this exit code."""
    result = grade("new", *arguments, cwd=cwd)
    assert code == result.returncode, err(result)
    return err(result) if code else out(result)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `course/hw5_weight_tokens` was made; no test changes it."""
    folder = tmp_path_factory.mktemp("new")
    new("hw5", "--assignments", "course", cwd=folder)
    return folder


# --- a fresh one --------------------------------------------------------------------------------


def test_what_was_made_is_told_with_the_next_three_steps(tmp_path: Path) -> None:
    told = new("hw5", "--assignments", "course", cwd=tmp_path)

    folder = f"course{os.sep}hw5_weight_tokens"
    assert MADE.format(folder=folder, reference=f"{folder}{os.sep}reference.py") == told
    assert [folder] == [str(each.relative_to(tmp_path)) for each in tmp_path.glob("course/*")]


def test_the_steps_are_told_in_chinese(tmp_path: Path) -> None:
    told = new("hw5", "--assignments", "course", "--lang", "zh", cwd=tmp_path)

    assert told.startswith(f"已生成 course{os.sep}hw5_weight_tokens，包含\n")
    assert "\n接下来：\n  1. 改成自己的作业：" in told


def test_a_fresh_assignment_is_read_without_a_complaint(course: Path) -> None:
    made = assignments.load(course / "course" / "hw5_weight_tokens")

    problems: list[str] = []
    known = misconceptions.read(made.folder, made.id, ["values"], problems)
    assert (made.id, made.edition, made.max_score) == ("hw5", "staff", 10)
    assert (len(known), len(made.probes)) == (1, 2)
    assert problems == []


def test_no_blank_is_left_in_a_fresh_assignment(course: Path) -> None:
    files = contents(course / "course" / "hw5_weight_tokens")

    assert [name for name, content in files.items() if b"__ID__" in content] == []
    assert files["template.py"].startswith(b"# torchgrade: hw5\n")
    assert [name for name, content in files.items() if b"\r" in content] == []


def test_a_fresh_assignment_pays_what_is_right_and_names_what_is_wrong(course: Path) -> None:
    folder = course / "course" / "hw5_weight_tokens"
    answers = {
        "reference.py": "10 of 10",
        "template.py": "  not done    0 of 10",
        "gallery/accepted/loop.py": "10 of 10",
        "gallery/misconceptions/weights_along_the_vector.py": 'mix-up: "The weights run along',
    }

    result = grade(
        "check",
        *(str(folder / name) for name in answers),
        *("--assignment", "hw5", "--assignments", "course", "--fail-under", "0"),
        cwd=course,
    )

    told = out(result)
    assert [name for name, words in answers.items() if words not in told] == [], told


@pytest.mark.long
def test_a_fresh_assignment_is_proven_without_a_warning_whatever_its_id(tmp_path: Path) -> None:
    new("quiz-1", "--assignments", "course", cwd=tmp_path)

    result = grade("verify", "quiz-1", "--strict", "--assignments", "course", cwd=tmp_path)

    assert "quiz-1: proven\n" in out(result)
    assert result.returncode == 0


def test_the_variable_names_the_folder_and_need_not_be_repeated(tmp_path: Path) -> None:
    result = grade("new", "hw5", cwd=tmp_path, env={"GRADE_ASSIGNMENTS": "mine"})

    assert (tmp_path / "mine" / "hw5_weight_tokens" / "suite" / "test_hidden.py").is_file()
    assert "       grade verify hw5 --strict\n" in out(result)


def test_the_option_may_stand_before_the_command(tmp_path: Path) -> None:
    grade("--assignments", "course", "new", "hw5", cwd=tmp_path)

    assert (tmp_path / "course" / "hw5_weight_tokens" / "reference.py").is_file()


def test_paths_that_a_shell_would_take_apart_are_quoted(tmp_path: Path) -> None:
    told = new("hw5", "--assignments", "my course", cwd=tmp_path)

    assert 'grade verify hw5 --strict --assignments "my course"\n' in told


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("id_", ["HW5", "5hw", "con", "hw 5", "../hw5", "a" * 65, "作业"])
def test_an_id_that_assignment_toml_could_not_have_is_refused(id_: str, tmp_path: Path) -> None:
    told = new(id_, "--assignments", "course", cwd=tmp_path, code=2)

    expected = (
        f"'{id_}' cannot be the id of an assignment: lower-case letters, digits, - and _, a letter"
        " first, at most 64, and none of the names that Windows keeps for devices.\n"
    )
    assert expected == told
    assert list(tmp_path.iterdir()) == []


def test_an_id_that_another_assignment_has_is_refused(tmp_path: Path) -> None:
    new("hw5", "--assignments", "course", cwd=tmp_path)
    (tmp_path / "course" / "hw5_weight_tokens").rename(tmp_path / "course" / "week five")
    before = contents(tmp_path)

    told = new("hw5", "--assignments", "course", cwd=tmp_path, code=2)

    folder = f"course{os.sep}week five"
    assert f"The id hw5 is taken: {folder} is called by it. Nothing was changed.\n" == told
    assert before == contents(tmp_path)


def test_a_folder_with_the_same_id_in_its_name_is_never_touched(tmp_path: Path) -> None:
    notes = tmp_path / "course" / "hw5_weight_tokens" / "reference.py"
    notes.parent.mkdir(parents=True)
    notes.write_text("an afternoon's work", "utf-8")

    new("hw5", "--assignments", "course", cwd=tmp_path, code=2)

    assert contents(tmp_path) == {"course/hw5_weight_tokens/reference.py": b"an afternoon's work"}


def test_a_longer_id_that_begins_alike_is_no_obstacle(tmp_path: Path) -> None:
    new("hw5_hard", "--assignments", "course", cwd=tmp_path)

    new("hw5", "--assignments", "course", cwd=tmp_path)

    names = sorted(each.name for each in (tmp_path / "course").iterdir())
    assert names == ["hw5_hard_weight_tokens", "hw5_weight_tokens"]


def test_nothing_is_made_inside_of_an_assignment(course: Path) -> None:
    inside = f"course{os.sep}hw5_weight_tokens"

    told = new("hw6", "--assignments", inside, cwd=course, code=2)

    assert told.startswith(f"--assignments: {inside} is itself an assignment. Name the folder that")
    assert not list(course.rglob("hw6*"))


def test_a_file_is_no_place_for_assignments(tmp_path: Path) -> None:
    (tmp_path / "course").write_text("notes", "utf-8")

    told = new("hw5", "--assignments", "course", cwd=tmp_path, code=2)

    assert told == "--assignments: course is not a folder.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="the system's own words are others there")
@pytest.mark.parametrize(
    ("parent", "made", "reason"),
    [
        ("x" * 300, "", "File name too long"),
        ("notes.txt/course", "/hw5_weight_tokens", "Not a directory"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_named(
    parent: str, made: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("notes", "utf-8")

    told = new("hw5", "--assignments", parent, cwd=tmp_path, code=2)

    assert told == f"{parent}{made} cannot be made: {reason}\n"


# --- copies -------------------------------------------------------------------------------------


def test_a_copy_differs_from_its_original_in_the_id_alone(course: Path, tmp_path: Path) -> None:
    shutil.copytree(course / "course", tmp_path / "course")
    original = contents(course / "course" / "hw5_weight_tokens")

    told = new("quiz-1", "--from", "hw5", "--assignments", "course", cwd=tmp_path)

    copy = contents(tmp_path / "course" / "quiz-1_weight_tokens")
    assert told.startswith(f"Made course{os.sep}quiz-1_weight_tokens, a copy of hw5, with\n")
    assert original.keys() == copy.keys()
    changed = {name for name in copy if copy[name] != original[name]}
    marked = {name for name in copy if name.endswith(".py") and not name.startswith("suite/")}
    assert {"assignment.toml", "handout.md", "handout.zh.md", *marked} == changed
    assert copy["template.py"] == original["template.py"].replace(b"hw5", b"quiz-1")
    title = assignments.load(tmp_path / "course" / "quiz-1_weight_tokens").title
    assert title.en == "Weight the tokens"


def test_caches_and_hidden_files_stay_behind(course: Path, tmp_path: Path) -> None:
    shutil.copytree(course / "course", tmp_path / "course")
    original = tmp_path / "course" / "hw5_weight_tokens"
    for litter in (
        "suite/__pycache__/test_public.cpython-312.pyc",
        ".DS_Store",
        "gallery/.ipynb_checkpoints/loop-checkpoint.py",
        "reference.py~",
    ):
        (original / litter).parent.mkdir(exist_ok=True)
        (original / litter).write_bytes(b"litter")

    new("hw6", "--from", "HW5", "--assignments", "course", cwd=tmp_path)

    clean = contents(course / "course" / "hw5_weight_tokens")
    assert clean.keys() == contents(tmp_path / "course" / "hw6_weight_tokens").keys()


def test_the_checkouts_own_assignments_can_be_copied_under_their_own_id(tmp_path: Path) -> None:
    new("hw1", "--from", "hw1", "--assignments", "private", cwd=tmp_path)

    own = assignments.load(next((ROOT / "assignments").glob("hw1_*")))
    copy = assignments.load(tmp_path / "private" / own.folder.name)
    assert (own.id, own.digest, "staff") == (copy.id, copy.digest, copy.edition)


@pytest.mark.long
def test_of_a_copy_with_many_files_folders_are_counted(tmp_path: Path) -> None:
    told = new("rope", "--from", "hw4", "--assignments", "private", cwd=tmp_path)

    many = len(list((tmp_path / "private" / "rope_rope" / "gallery" / "accepted").iterdir()))
    assert f"\n  gallery/accepted/ ({many} files)\n" in told
    assert "\n  1. Change what is to differ: hidden tests, titles, points." in told


@pytest.mark.long
def test_a_copy_of_an_assignment_is_proven_as_it_was(course: Path, tmp_path: Path) -> None:
    shutil.copytree(course / "course", tmp_path / "course")
    new("hw6", "--from", "hw5", "--assignments", "course", cwd=tmp_path)

    result = grade("verify", "hw6", "--strict", "--assignments", "course", cwd=tmp_path)

    assert "hw6: proven\n" in out(result)


@pytest.mark.long
def test_a_copy_under_another_id_still_names_the_mistake(tmp_path: Path) -> None:
    """The random inputs of probes depend on the id, and so do the numbers of mistakes."""
    new("quiz", "--from", "hw1", "--assignments", "private", cwd=tmp_path)
    folder = next((tmp_path / "private").iterdir())
    wrong = folder / "gallery" / "misconceptions" / "averaged.py"

    arguments = (str(wrong), "--assignment", "quiz", "--assignments", "private")
    told = out(grade("check", *arguments, cwd=tmp_path))

    original = next((ROOT / "assignments").glob("hw1_*"))
    assert (folder / "diagnosis.json").read_bytes() != (original / "diagnosis.json").read_bytes()
    assert "Your numbers are exactly those of a known mix-up:" in told


def test_what_can_be_copied_is_listed_where_the_id_is_unknown(tmp_path: Path) -> None:
    told = new("hw5", "--from", "hw9", "--assignments", "private", cwd=tmp_path, code=2)

    expected = "There is no assignment hw9 to copy. There are: hw1, hw2, hw3, hw4.\n"
    assert expected == told
    assert list(tmp_path.iterdir()) == []


def test_a_broken_original_is_refused_with_its_problems(course: Path, tmp_path: Path) -> None:
    shutil.copytree(course / "course", tmp_path / "course")
    (tmp_path / "course" / "hw5_weight_tokens" / "rubric.toml").unlink()

    told = new("hw6", "--from", "hw5", "--assignments", "course", cwd=tmp_path, code=2)

    assert told.startswith("hw5_weight_tokens/rubric.toml")
    assert [each.name for each in (tmp_path / "course").iterdir()] == ["hw5_weight_tokens"]


# --- the student edition ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package alone, as a wheel installs it."""
    site = tmp_path_factory.mktemp("site")
    litter = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "grader", site / "grader", ignore=litter)
    return site


def students_grade(*arguments: str, site: Path, cwd: Path) -> tuple[int, str, str]:
    clean: Mapping[str, str] = {k: v for k, v in os.environ.items() if k not in LOCALE}
    settings = {"PYTHONPATH": str(site), "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "grader", *arguments],
        cwd=cwd,
        env={**clean, **settings},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_the_student_edition_asks_for_a_folder(installed: Path, tmp_path: Path) -> None:
    code, told, complaint = students_grade("new", "hw5", site=installed, cwd=tmp_path)

    expected = (
        "This is the student edition, which has no folder for new assignments."
        " Name one, new or not: --assignments DIR\n"
    )
    assert (2, "", expected) == (code, told, complaint)
    assert list(tmp_path.iterdir()) == []


def test_the_student_edition_makes_one_where_it_is_told_to(installed: Path, tmp_path: Path) -> None:
    students_grade("new", "hw5", "--assignments", "course", site=installed, cwd=tmp_path)

    assert (tmp_path / "course" / "hw5_weight_tokens" / "suite" / "test_hidden.py").is_file()


def test_the_student_edition_has_nothing_to_copy(installed: Path, tmp_path: Path) -> None:
    arguments = ("new", "hw5", "--from", "hw4", "--assignments", "course")

    code, _, complaint = students_grade(*arguments, site=installed, cwd=tmp_path)

    assert code == 2
    assert complaint.startswith("There is no assignment hw4 to copy: no assignment with its")
