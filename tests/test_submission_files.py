"""Opening a submission: what is kept of a file, and what a wrong path is told."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import UsageProblem
from grader.submission import read, understand


def refused(path: Path, **options: object) -> str:
    with pytest.raises(UsageProblem) as raised:
        read(path, **options)
    return str(raised.value)


def test_the_hash_is_of_the_bytes_that_are_graded(tmp_path: Path) -> None:
    path = tmp_path / "hw1.py"
    path.write_bytes(b"x = 1\r\n")

    opened = read(path, student="lee", attempt=2)

    assert opened.content == b"x = 1\r\n"
    assert hashlib.sha256(b"x = 1\r\n").hexdigest() == opened.submission.sha256
    assert (opened.submission.student, opened.submission.attempt) == ("lee", 2)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.py", "module"), ("A.PY", "module"), ("b.ipynb", "notebook"), ("B.IpyNb", "notebook")],
)
def test_the_ending_tells_the_kind_in_any_case(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).write_text("x = 1", encoding="utf-8")

    assert kind == read(tmp_path / name).submission.kind


def test_a_file_is_named_relative_with_slashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "week 1").mkdir()
    (tmp_path / "week 1" / "作业 'a'.py").write_text("x = 1", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    relative = read(Path("week 1") / "作业 'a'.py")
    absolute = read(tmp_path / "week 1" / "作业 'a'.py")
    under_root = read(tmp_path / "week 1" / "作业 'a'.py", root=tmp_path)

    assert "week 1/作业 'a'.py" == relative.submission.file == under_root.submission.file
    assert absolute.submission.file == "作业 'a'.py"


@pytest.mark.skipif(os.name == "nt", reason="names are bytes on POSIX only")
def test_a_name_that_is_no_utf8_can_still_be_reported(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/h\xff.py"))
    try:
        path.write_text("x = 1", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")

    assert read(path).submission.file == "h%FF.py"


def test_a_missing_file_is_told_its_near_neighbour(tmp_path: Path) -> None:
    (tmp_path / "hw1_lee.py").write_text("", encoding="utf-8")

    message = refused(tmp_path / "hw1_le.py")

    near = tmp_path / "hw1_lee.py"
    assert f"There is no file {tmp_path / 'hw1_le.py'}. Did you mean {near}?" == message


@pytest.mark.parametrize("typed", ["hw1", "hw1.py", "HW1.ipynbb"])
def test_another_ending_of_the_same_name_is_offered(tmp_path: Path, typed: str) -> None:
    (tmp_path / "hw1.ipynb").write_text("", encoding="utf-8")

    assert refused(tmp_path / typed).endswith(f"Did you mean {tmp_path / 'hw1.ipynb'}?")


def test_a_missing_file_without_neighbours_is_told_where_to_look(tmp_path: Path) -> None:
    assert "Check the name and the folder" in refused(tmp_path / "gone" / "hw1.py")


def test_a_folder_is_told_which_files_it_holds(tmp_path: Path) -> None:
    empty = tmp_path / "empty.py"
    empty.mkdir()
    (tmp_path / "b.py").write_text("", encoding="utf-8")
    (tmp_path / "a.ipynb").write_text("", encoding="utf-8")

    assert "such as a.ipynb, b.py, empty.py;" in refused(tmp_path)
    assert "is a folder" in refused(empty)


def test_another_ending_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hw1.txt").write_text("x = 1", encoding="utf-8")

    assert "ends in neither .py nor .ipynb" in refused(tmp_path / "hw1.txt")


def test_a_hidden_second_ending_is_named(tmp_path: Path) -> None:
    (tmp_path / "hw1.py.txt").write_text("x = 1", encoding="utf-8")

    message = refused(tmp_path / "hw1.py.txt", language="zh")

    assert f"请改名为 {tmp_path / 'hw1.py'}。" in message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hw1.py")

    assert "is not a regular file" in refused(tmp_path / "hw1.py")


def test_a_name_that_no_file_can_have_is_a_usage_problem() -> None:
    refused(Path("hw\0.py"))
    refused(Path("h" * 5000 + ".py"))


def test_a_file_above_the_limit_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "hw1.py"
    path.write_bytes(b"# torchgrade: hw1\n" + b"#" * 100)

    opened = read(path, max_bytes=50)
    reading = understand(opened, max_bytes=50)

    assert len(opened.content) == 51
    assert reading.unreadable
    assert [problem.kind for problem in reading.problems] == ["too_large"]
    assert reading.marker == "hw1"


def test_reading_a_script_loads_no_notebook_library(tmp_path: Path) -> None:
    (tmp_path / "hw1.py").write_text("def f(x):\n    return x\n", encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from grader.submission import read, understand; "
        "understand(read(Path(sys.argv[1]))); "
        "print(sorted({'jupytext', 'nbformat', 'jsonschema', 'torch', 'pytest'} & {*sys.modules}))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "hw1.py")],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )

    assert done.stdout.strip() == "[]"
