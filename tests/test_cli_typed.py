"""The command under `Next:` is the one that was typed, quoted so that it can be pasted."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cli import typed

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["grade", "check", "hw1.py"], "grade check hw1.py"),
        (["grade", "check", "my hw.ipynb", "--lang", "zh"], 'grade check "my hw.ipynb" --lang zh'),
        (["grade", "check", "作业 1.py"], 'grade check "作业 1.py"'),
        (["grade", "check", "作业1.py", "--json=a.json"], "grade check 作业1.py --json=a.json"),
        (["grade", "check", "hw1 (2).ipynb"], 'grade check "hw1 (2).ipynb"'),
        (["grade", "check", "O'Brien.py"], 'grade check "O\'Brien.py"'),
        (["grade", "check", "a$b.py"], "grade check 'a$b.py'"),
        (["grade", "check", "~mine.py"], 'grade check "~mine.py"'),
        (["grade", "check", ""], "grade check ''"),
    ],
)
def test_a_posix_command_is_quoted_only_where_it_must_be(words: list[str], line: str) -> None:
    assert typed.joined(words, windows=False) == line


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["grade", "check", r".\hw1.py"], r"grade check .\hw1.py"),
        (["grade", "check", r"C:\My work\hw1.py"], r'grade check "C:\My work\hw1.py"'),
        (["grade", "check", "hw1,hw2.py"], 'grade check "hw1,hw2.py"'),
        (["grade", "check", "@hw1.py"], 'grade check "@hw1.py"'),
        (["grade", "check", "$hw1.py"], "grade check '$hw1.py'"),
        (["grade", "check", "$O'Brien.py"], "grade check '$O''Brien.py'"),
        (["grade", "check", "“hw1”.py"], "grade check '“hw1”.py'"),
        ([r"C:\My Python\python.exe", "-m", "grader"], r'& "C:\My Python\python.exe" -m grader'),
    ],
)
def test_a_command_for_powershell_holds_no_word_that_it_would_read_otherwise(
    words: list[str], line: str
) -> None:
    assert typed.joined(words, windows=True) == line


@given(words=st.lists(WORDS, min_size=1, max_size=4))
def test_a_posix_shell_reads_back_the_words_that_were_typed(words: list[str]) -> None:
    assert shlex.split(typed.joined(words, windows=False)) == words


def test_python_m_grader_stays_python_m_grader_with_its_options() -> None:
    told = typed._program(
        ["/x/grader/__main__.py", "check", "hw1.py"],
        ["/opt/my/python3", "-X", "utf8", "-m", "grader", "check", "hw1.py"],
        windows=False,
    )

    assert told == ["/opt/my/python3", "-X", "utf8", "-m", "grader"]


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell's quoting")
def test_a_program_that_the_shell_finds_is_called_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "grade"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    found = typed._program([str(script), "check"], ["python", str(script), "check"], windows=False)
    other = typed._program(["/opt/grade", "check"], ["python", "x", "check"], windows=False)

    assert found == ["grade"]
    assert other == ["/opt/grade"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
def test_a_real_shell_gives_the_program_the_words_that_were_typed() -> None:
    words = ["my hw.py", "a$HOME.py", "it's.py", '"', "back\\slash", "!x", "作业.py", "-x=1 2"]
    line = typed.joined(
        [sys.executable, "-c", "import sys; print(sys.argv[1:])", *words], windows=False
    )

    printed = subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout

    assert printed.decode("utf-8").strip() == repr(words)
