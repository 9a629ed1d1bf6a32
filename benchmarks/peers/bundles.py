"""How each grader is set up in an empty folder, and asked about a submission.

What lies in `files/NAME` is copied, with `ten.py` beside it.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import classes
from benchmarks.peers import notebooks

HERE = Path(__file__).parent
TEN = HERE / "ten.py"
Grade = Callable[[Sequence[str]], list[int]]


class NotGraded(Exception):
    """A grader that does not work here; the message is its last line."""


def ours(folder: Path) -> None:
    """The ten tests as an assignment of our own: a suite is one file."""
    shutil.copytree(HERE / "files" / "ours", folder)
    suite = folder / "suite" / "test_public.py"
    suite.write_text(TEN.read_text("utf-8") + "\n\n" + suite.read_text("utf-8"), "utf-8")
    answer = (HERE / "files" / "reference.py").read_text("utf-8")
    (folder / "reference.py").write_text(answer, "utf-8")
    (folder / "template.py").write_text(re.sub(r"(?m)^    return .*$", "    ...", answer), "utf-8")


def fresh_pytest(folder: Path, python: Path) -> Grade:
    """`python -m pytest` for each submission."""
    _copied("fresh_pytest", folder)

    def grade(texts: Sequence[str]) -> list[int]:
        return [_passed_by_pytest(text) for text in texts]

    def _passed_by_pytest(text: str) -> int:
        (folder / "rope.py").write_text(text, "utf-8")
        said = _run(folder, python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
        return int((re.search(r"(\d+) passed", said) or ["", "0"])[1])

    return grade


def gradescope(folder: Path, python: Path) -> Grade:
    """What `run_autograder` does: the submission beside the tests, then `run_tests.py`."""
    _copied("gradescope", folder)

    def grade(texts: Sequence[str]) -> list[int]:
        return [_passed(text) for text in texts]

    def _passed(text: str) -> int:
        (folder / "rope.py").write_text(text, "utf-8")
        _run(folder, python, "run_tests.py")
        told = json.loads((folder / "results.json").read_text("utf-8"))
        return sum(each["score"] == each["max_score"] for each in told["tests"])

    return grade


def check50(folder: Path, python: Path) -> Grade:
    """`check50 --dev` in the folder of each submission."""
    checks, work = folder / "checks", folder / "work"
    _copied("check50", checks)
    work.mkdir()

    def grade(texts: Sequence[str]) -> list[int]:
        return [_passed(text) for text in texts]

    def _passed(text: str) -> int:
        (work / "rope.py").write_text(text, "utf-8")
        results = folder / "results.json"
        options = ("--dev", "--log-level", "warning", "-o", "json", "--output-file", results)
        _run(work, python.parent / "check50", *options, checks)
        told = json.loads(results.read_text("utf-8"))["results"]
        return sum(each["passed"] is True for each in told if each["name"] != "exists")

    return grade


def otter(folder: Path, python: Path) -> Grade:
    """`otter generate` once, then `otter run` for each submission, a notebook.

    Of scripts it takes no more than one in a folder, and ten.py would be the second.
    """
    _copied("otter", folder)
    command = python.parent / "otter"
    _run(folder, command, "generate", "-t", "tests", "-o", "autograder.zip", "ten.py")

    def grade(texts: Sequence[str]) -> list[int]:
        return [_passed(text) for text in texts]

    def _passed(text: str) -> int:
        (folder / "rope.ipynb").write_text(classes.notebook(text), "utf-8")
        _run(folder, command, "run", "--no-logo", "-a", "autograder.zip", "rope.ipynb")
        told = json.loads((folder / "results.json").read_text("utf-8"))
        return round(sum(each.get("score", 0) for each in told["tests"]))

    return grade


def nbgrader(folder: Path, python: Path) -> Grade:
    """`nbgrader generate_assignment` once, then `nbgrader autograde` for the whole class."""
    command = python.parent / "nbgrader"
    source = folder / "source" / "ps1"
    source.mkdir(parents=True)
    shutil.copy(TEN, source)
    (folder / "nbgrader_config.py").write_text(notebooks.CONFIG, "utf-8")
    (source / "rope.ipynb").write_text(notebooks.source(), "utf-8")
    _run(folder, command, "generate_assignment", "ps1")

    def grade(texts: Sequence[str]) -> list[int]:
        for number, text in enumerate(texts):
            handed_in = folder / "submitted" / f"student{number}" / "ps1"
            handed_in.mkdir(parents=True)
            released = (folder / "release" / "ps1" / "rope.ipynb").read_text("utf-8")
            (handed_in / "rope.ipynb").write_text(notebooks.filled(released, text), "utf-8")
        _run(folder, command, "autograde", "ps1")
        return _run_scores(folder, python)

    return grade


def _run_scores(folder: Path, python: Path) -> list[int]:
    said = _run(folder, python, "-c", notebooks.SCORES)
    return [round(float(each)) for each in json.loads(said)]


def _copied(name: str, folder: Path) -> None:
    shutil.copytree(HERE / "files" / name, folder, dirs_exist_ok=True)
    shutil.copy(TEN, folder)


def _run(folder: Path, *words: str | Path) -> str:
    """What a command of a peer's environment prints.

    Raises:
        NotGraded: it failed.
    """
    first = Path(words[0]).parent
    environment = {**os.environ, "PATH": f"{first}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        raise NotGraded(f"{Path(words[0]).name}: {said.splitlines()[-1] if said else 'no word'}")
    return done.stdout.decode("utf-8", "replace")
