"""Who waits while a file's own code runs is told so, on standard error, and can count along."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import ROOT, err, grade

from grader.cli import working
from grader.cli.root import Desk

RIGHT = """\
import torch

def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors

"""
# Four CPU seconds of the student's own.
TRAINING = """\
import time
while time.process_time() < began + 4:
    pass
"""


def test_nothing_is_told_of_a_file_that_takes_no_time(tmp_path: Path) -> None:
    (tmp_path / "hw1.py").write_text(RIGHT, encoding="utf-8")

    result = grade("check", "hw1.py", cwd=tmp_path)

    assert err(result) == "Starting PyTorch (the first time can take a minute) ...\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_a_terminal_shows_a_line_that_counts_the_seconds_and_vanishes(tmp_path: Path) -> None:
    code = RIGHT + "import time\nbegan = time.process_time()\n" + TRAINING
    (tmp_path / "hw1.py").write_text(code, encoding="utf-8")
    master, slave = os.openpty()
    own = {key: value for key, value in os.environ.items() if key != "CI"}
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", "check", "hw1.py", "--json", "-"],
        cwd=tmp_path,
        env={**own, "PYTHONPATH": str(ROOT), "GRADE_LANG": "en"},
        stdout=subprocess.PIPE,
        stderr=slave,
    )
    os.close(slave)

    printed, _ = process.communicate()
    told = os.read(master, 1 << 16).decode("utf-8")
    os.close(master)

    assert printed.startswith(b"{\n") and printed.endswith(b"}\n")
    seconds = [int(each) for each in re.findall(r"\rRunning hw1.py \.\.\. (\d+) s", told)]
    assert seconds == sorted(set(seconds)) and len(seconds) >= 2
    assert re.search(r"\r +\r$", told)


def test_a_log_gets_one_plain_line_however_long_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(working, "_LATER_S", 0.05)
    here = Desk(language="zh", debug=False, assignments=None)

    with working.Working("a\x1b[2Jb.py", here, watched=False) as stage:
        stage.hear("loading")
        stage.thread.join()
        stage.hear("testing")

    told = capsys.readouterr()
    assert told.err == "正在运行 a\\x1b[2Jb.py……0 秒\n"
    assert told.out == ""


def test_a_line_that_becomes_shorter_leaves_nothing_of_the_longer_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(working, "_SOON_S", 0.0)
    monkeypatch.setattr(working, "_TICK_S", 0.01)
    here = Desk(language="en", debug=False, assignments=None)

    with working.Working("hw1.py", here, watched=True) as stage:
        stage.hear("loading")
        while "Running" not in stream.getvalue():
            pass
        stage.hear("testing")
        while "Testing" not in stream.getvalue():
            pass

    running, testing = "Running hw1.py ... 0 s", "Testing hw1.py ... 0 s"
    assert stream.getvalue() == f"\r{running}\r{testing}\r{' ' * len(testing)}\r"
