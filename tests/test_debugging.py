"""`pytest -p grader.suite.plugin SUITE --submission FILE`, as an editor runs it."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from test_cli import LOCALE, ROOT

from grader.scaffold import making

RIGHT = "def weight_tokens(token_vectors, weights):\n    return token_vectors * weights[:, None]\n"
WRONG = "def weight_tokens(token_vectors, weights):\n    return token_vectors + weights[:, None]\n"
# Alone, because a run under an editor is mostly one test, and each costs a call only.
ONE = "test_the_example_of_the_handout"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return making.fresh("hw5", tmp_path_factory.mktemp("course")) / "suite"


def run(suite: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own, where everything temporary goes to `cwd/scratch`."""
    clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
    (cwd / "scratch").mkdir()
    settings = {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(cwd / "scratch"),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
            *("-p", "grader.suite.plugin", str(suite), *arguments),
        ],
        cwd=cwd,
        env={**clean, **settings},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def left_behind(suite: Path, cwd: Path) -> list[str]:
    """Whatever lies in the working folder, in the scratch folder or in the suite and was not."""
    known = {"answer.py", "scratch", "public_values.json", "test_hidden.py", "test_public.py"}
    found = (*cwd.iterdir(), *(cwd / "scratch").iterdir(), *suite.iterdir())
    return sorted(each.name for each in found if each.name not in known)


def test_a_right_file_passes_every_test_and_leaves_nothing_behind(
    suite: Path, tmp_path: Path
) -> None:
    (tmp_path / "answer.py").write_text(RIGHT, "utf-8")

    result = run(suite, tmp_path, "--submission", "answer.py", "--submission-seed", "7")

    assert "11 passed" in result.stdout, result.stdout
    assert result.returncode == 0
    assert left_behind(suite, tmp_path) == []


def test_a_wrong_file_fails_with_the_sentence_that_students_read(
    suite: Path, tmp_path: Path
) -> None:
    (tmp_path / "answer.py").write_text(WRONG, "utf-8")

    result = run(suite, tmp_path, "-k", ONE, "--submission", "answer.py")

    assert "1 failed" in result.stdout, result.stdout
    assert "Mismatch: " in result.stdout
    assert result.returncode == 1
    assert left_behind(suite, tmp_path) == []


@pytest.mark.long
def test_without_a_file_the_option_is_named(suite: Path, tmp_path: Path) -> None:
    result = run(suite, tmp_path, "-k", ONE)

    assert "this suite needs a submission: add --submission FILE" in result.stdout
    assert "1 error" in result.stdout
    assert result.returncode == 1
    assert left_behind(suite, tmp_path) == []


@pytest.mark.long
def test_a_file_that_is_not_there_is_named(suite: Path, tmp_path: Path) -> None:
    result = run(suite, tmp_path, "-k", ONE, "--submission", "nowhere.py")

    assert "There is no file nowhere.py." in result.stdout
    assert result.returncode == 1
    assert left_behind(suite, tmp_path) == []


def test_nothing_of_the_grader_is_in_the_pytest_of_other_projects(tmp_path: Path) -> None:
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "__init__.py").write_text("", "utf-8")
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--submission')\n", "utf-8"
    )
    (tmp_path / "test_own.py").write_text(
        "import grader, pytest\n"
        "@pytest.fixture\n"
        "def own(request): return request.config.getoption('--submission')\n"
        f"def test_own(own): assert own == '7' and {str(tmp_path)!r} in grader.__file__\n",
        "utf-8",
    )

    registered = [each.value for each in entry_points(group="pytest11")]
    assert not [each for each in registered if each.startswith("grader")]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--submission", "7"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in result.stdout, result.stdout
