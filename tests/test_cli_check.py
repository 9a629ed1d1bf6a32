"""`grade check` on real files: exit codes, screens and reports of one run."""

import json
import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from test_cli import ROOT, err, grade, out

from grader.cli import arguments, check, outputs
from grader.errors import UsageProblem

RIGHT = """\
import torch

def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors
"""
WRONG = RIGHT.replace("token_vectors + position", "token_vectors - position")


# --- exit codes and names ------------------------------------------------------------------------


def a_result(score: int | None, decided: int = 10, status: str = "graded") -> dict[str, Any]:
    return {"status": status, "score": score, "decided": decided, "max_score": 10}


@pytest.mark.parametrize(
    ("report", "needed", "code"),
    [
        (a_result(10), None, 0),
        (a_result(9), None, 1),
        (a_result(8, decided=8), None, 0),
        (a_result(0, decided=0), None, 0),
        (a_result(7), Fraction(70), 0),
        (a_result(7), Fraction("70.0001"), 1),
        (a_result(0), Fraction(0), 0),
        (a_result(0, decided=0, status="unreadable"), None, 1),
        (a_result(0, status="unreadable"), Fraction(0), 0),
        (a_result(None, decided=0, status="grader_failed"), Fraction(0), 3),
        ({"status": "graded", "score": 0, "decided": 0, "max_score": 0}, None, 0),
    ],
)
def test_the_exit_code_says_whether_enough_points_are_earned(
    report: dict[str, Any], needed: Fraction | None, code: int
) -> None:
    assert check.exit_code(report, needed) == code


@pytest.mark.parametrize(("typed", "value"), [("70", 70), ("66.6%", Fraction("66.6")), ("0", 0)])
def test_a_percentage_is_taken_exactly_as_typed(typed: str, value: Fraction) -> None:
    assert arguments.percent(typed) == value


@pytest.mark.parametrize("typed", ["", "many", "-1", "100.1", "nan", "inf", "1/0"])
def test_what_is_no_percentage_is_refused(typed: str) -> None:
    with pytest.raises(UsageProblem):
        arguments.percent(typed)


def test_reports_of_files_with_one_name_do_not_overwrite_each_other() -> None:
    graded = [
        (Path("lee/hw1.py"), "hw1"),
        (Path("kim/HW1.ipynb"), "hw1"),
        (Path("kim/HW1.ipynb"), "hw2"),
        (Path("kim/hw1-2.py"), "hw1"),
    ]

    names = outputs.names(graded)

    assert names == ["hw1.hw1.json", "HW1-2.hw1.json", "HW1.hw2.json", "hw1-2-2.hw1.json"]


# --- before PyTorch starts ------------------------------------------------------------


@pytest.mark.parametrize("name", ["missing.py", "notes.txt", "folder", "folder/hw1.py"])
def test_what_cannot_be_graded_is_told_before_pytorch_starts(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")

    result = grade("check", name, cwd=tmp_path)

    assert "PyTorch" not in err(result)
    assert (result.returncode, result.stdout) == (2, b"")


def test_the_command_imports_neither_torch_nor_pytest() -> None:
    script = (
        "import sys; import grader.cli.check, grader.cli.start, grader.cli.validate;"
        "import grader.grading; print({'torch', 'pytest', '_pytest'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, text=True
    )

    assert result.stdout == "set()\n"


# --- one run ------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("a b")
    (folder / "right.py").write_text(RIGHT, encoding="utf-8")
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    (folder / "hw1.py").write_text("def (\n", encoding="utf-8")
    result = grade("check", "wrong.py", "right.py", "hw1.py", "--out", "reports", cwd=folder)
    return folder, result


def test_screens_come_in_the_order_of_the_files_and_each_ends_with_its_score(run: Any) -> None:
    _, result = run

    lines = out(result).split("\n")
    scores = [line for line in lines if line.startswith("hw1: ")]
    assert scores == [
        "hw1: 0 of 10 (unofficial)",
        "hw1: 10 of 10 (unofficial)",
        "hw1: 0 of 10 (unofficial)",
    ]
    assert lines[-2] == scores[-1]


def test_the_worst_file_decides_the_exit_code(run: Any) -> None:
    _, result = run

    assert result.returncode == 1


def test_pytorch_is_announced_beside_the_result_and_not_in_it(run: Any) -> None:
    _, result = run

    assert err(result).startswith("Starting PyTorch (the first time can take a minute) ...\n")
    assert "PyTorch" not in out(result)


def test_a_failing_criterion_shows_a_call_that_can_be_pasted(run: Any) -> None:
    _, result = run

    assert "   where     add_position_vectors, line 3\n" in out(result)
    assert "   tried     " in out(result)


def test_every_report_is_written_and_valid(run: Any) -> None:
    folder, _ = run
    files = ["hw1.hw1.json", "right.hw1.json", "wrong.hw1.json"]

    result = grade("validate", *[f"reports/{file}" for file in files], cwd=folder)

    assert sorted(each.name for each in (folder / "reports").iterdir()) == files
    assert (out(result).count(": ok\n"), result.returncode) == (3, 0)


def test_no_line_is_wider_than_eighty_columns(run: Any) -> None:
    _, result = run

    assert max(len(line) for line in out(result).split("\n")) <= 80


def test_json_to_the_screen_is_the_report_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT, encoding="utf-8")

    result = grade("check", "right.py", "--json", "-", "--lang", "zh", cwd=tmp_path)

    report = json.loads(result.stdout.decode("ascii"))
    assert (report["score"], result.returncode) == (10, 0)
    assert b"\r" not in result.stdout


def test_json_takes_exactly_one_report(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(RIGHT, encoding="utf-8")

    result = grade("check", "a.py", "b.py", "--json", "all.json", cwd=tmp_path)

    expected = (
        "--json takes one report, and these files give 2 (a.py: hw1, b.py: hw1)."
        " Use --out DIR: it gets one file per report."
    )
    assert err(result).split("\n")[1] == expected
    assert (result.returncode, result.stdout) == (2, b"")
    assert not (tmp_path / "all.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals for one process")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_check_says_one_line_and_leaves_nothing_behind(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "hw1.py").write_text(RIGHT + "while True: pass\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", "check", "hw1.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch), "GRADE_LANG": "en"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    announced = process.stderr.readline()

    process.send_signal(number)
    printed, complaint = process.communicate()

    assert announced.startswith(b"Starting PyTorch")
    assert (process.returncode, printed) == (code, b"")
    assert complaint.strip() == b"Stopped. Nothing was graded after this point."
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("encoding", ["cp936", "cp1252", "cp437", "ascii"])
def test_a_screen_can_be_shown_on_every_console(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "hw1.py").write_text("\x1b[31m’作业\n", encoding="utf-8")
    env = {"PYTHONIOENCODING": encoding}

    result = grade("check", "hw1.py", "--lang", "zh", cwd=tmp_path, env=env)

    assert "hw1" in result.stdout.decode(encoding)
    assert b"\x1b" not in result.stdout
    assert result.returncode == 1
