"""A class of three hundred and thirty attacks more: everybody else's report is as without them.

The same class is graded twice, in three layouts of platforms: once as it is, and once with the
attacks among it. Nothing is asserted about time but that everything ends; what a run took is told
on the screen of the tests (`-s`).
"""

import csv
import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

if sys.platform != "linux":
    pytest.skip("the level full is Linux's", allow_module_level=True)

from attacks import ATTACKS, VICTIM
from test_cli import LOCALE, ROOT

from grader.sandbox import scratch
from grader.sandbox.linux import landlock, seccomp

# The checkout's own, however this is run.
sys.path.insert(0, str(ROOT))
from benchmarks import classes

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (landlock.version() and seccomp.available()),
        reason="the kernel lacks Landlock or seccomp",
    ),
]

ID = "hw1"
SEED = "188900112233445566778899"
HONEST = 100
# A batch that has not ended by then hangs.
PATIENCE_S = 900.0
# What an endless loop may take is not what is tested here.
LIMITS = "[limits]\nload_s = 2\ncall_s = 0.5\ntotal_s = 3\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a platform arranges what was handed in.

    Args:
        put: puts the upload of one student, a folder with files, where the platform would: given
            the class's folder, the student's name, and a number.
        key: what the student is called in the tables.
        attacks: who is in the class.
    """

    put: Callable[[Path, str, int], Path]
    key: Callable[[str, int], str]
    attacks: Sequence[str]
    zipped: bool = False


def _folder(root: Path, student: str, _number: int) -> Path:
    made = root / student
    made.mkdir(parents=True)
    return made


def _nbgrader(root: Path, student: str, _number: int) -> Path:
    made = root / "submitted" / student / ID
    made.mkdir(parents=True)
    return made


FLAT = [name for name, each in ATTACKS.items() if each.flat]
DEEP = [name for name, each in ATTACKS.items() if not each.flat]
DATES = ("year_999", "slow_date")
CODE = [name for name in FLAT if name not in DATES]
LAYOUTS = {
    "canvas": Layout(
        put=_folder, key=lambda _name, number: str(10001 + number), attacks=CODE[0::3], zipped=True
    ),
    "folders": Layout(put=_folder, key=lambda name, _: name, attacks=[*CODE[1::3], *DEEP]),
    "nbgrader": Layout(put=_nbgrader, key=lambda name, _: name, attacks=[*CODE[2::3], *DATES]),
}


# --- the class ---------------------------------------------------------------------------------


def honest() -> Iterator[tuple[str, str, str]]:
    """Name, file and text: right, wrong and unfinished, as scripts and as notebooks."""
    known = classes.known()[ID]
    unfinished = (known.folder / "template.py").read_text("utf-8")
    texts = cycle([*(each.text for each in classes.gallery(known)), unfinished])
    for at, text in enumerate(islice(texts, HONEST)):
        name = VICTIM if at == 0 else f"student{at:03}"
        own = f"{text}\n# {name}\n"
        if at % 3 == 2:
            yield name, f"{ID}.ipynb", classes.notebook(own)
        else:
            yield name, f"{ID}.py", own


def handed_in(place: Path, layout: Layout, attacks: Sequence[str]) -> Path:
    """The class, and what these attackers hand in, as the platform gives it to the teacher."""
    root = place / "uploads"
    number = 0
    for name, file, text in honest():
        (layout.put(root, name, number) / file).write_text(text, "utf-8")
        number += 1
    for each in attacks:
        ATTACKS[each].write(layout.put(root, each, number))
        number += 1
    if not layout.zipped:
        return root
    return _exported(root, [*(name for name, _, _ in honest()), *attacks], place / "export.zip")


def _exported(root: Path, students: Sequence[str], path: Path) -> Path:
    """One zip file with all uploads side by side, as Canvas names them."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, student in enumerate(students):
            for file in sorted((root / student).iterdir()):
                # Canvas leaves nothing but letters of a name.
                owner = student.replace("_", "")
                named = f"{owner}_{10001 + number}_{990000 + number}_{file.name}"
                archive.writestr(named, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return path


# --- a batch -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What a run of the command left.

    Args:
        reports: both views, by their paths, without what differs from run to run.
        rows: of `scores.csv`, by student.
    """

    code: int
    screen: str
    reports: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, Mapping[str, str]]
    run: Mapping[str, Any]


def graded(source: Path, out: Path, course: Path) -> Graded:
    clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
    began = time.monotonic()
    result = subprocess.run(
        [
            *(sys.executable, "-m", "grader", "batch", source, "--out", out),
            *("--assignments", course, "--assignment", ID, "--jobs", "2", "--seed", SEED),
        ],
        env={**clean, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    screen = (result.stdout + result.stderr).decode("utf-8")
    assert (out / "scores.csv").exists(), screen[-3000:]
    sys.stdout.write(f"{out.parent.name}/{out.name}: {time.monotonic() - began:.1f} s\n")
    with (out / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {each["student"]: each for each in csv.DictReader(file)}
    reports = {}
    for path in sorted(out.glob("*/*/*.json")):
        reports[str(path.relative_to(out))] = json.loads(path.read_bytes())
        reports[str(path.relative_to(out))].pop("run")
    return Graded(
        code=result.returncode,
        screen=screen,
        reports=reports,
        rows=rows,
        run=json.loads((out / "run.json").read_bytes()),
    )


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """hw1 with smaller limits."""
    import shutil

    made = tmp_path_factory.mktemp("course") / ID
    shutil.copytree(classes.known()[ID].folder, made)
    with (made / "assignment.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{LIMITS}")
    return made.parent


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    # What nests too deeply for whoever cleans up afterwards.
    scratch.remove(tmp_path)
    tmp_path.mkdir()


# --- what must hold ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAYOUTS)
def test_everybody_else_s_report_is_as_without_the_attacks(
    course: Path, place: Path, name: str
) -> None:
    layout = LAYOUTS[name]
    (place / "calm").mkdir()
    (place / "attacked").mkdir()

    calm = graded(handed_in(place / "calm", layout, ()), place / "calm" / "out", course)
    source = handed_in(place / "attacked", layout, layout.attacks)
    attacked = graded(source, place / "attacked" / "out", course)
    again = graded(source, place / "attacked" / "out", course)

    assert calm.code == 0
    assert len(calm.reports) == 2 * HONEST
    assert {key: attacked.reports.get(key) for key in calm.reports} == calm.reports
    assert {key: attacked.rows.get(key) for key in calm.rows} == calm.rows
    assert attacked.code == (1 if attacked.run["unattributed"] else 0), attacked.screen[-3000:]
    keys = {each: layout.key(each, HONEST + at) for at, each in enumerate(layout.attacks)}
    got = {each: attacked.rows.get(key, {}).get(f"{ID}_status") for each, key in keys.items()}
    assert {
        each: status for each, status in got.items() if status not in ATTACKS[each].status
    } == {}
    assert [each for each, key in keys.items() if not told(attacked, key)] == []
    assert (again.code, again.reports, again.rows) == (
        attacked.code,
        attacked.reports,
        attacked.rows,
    )
    assert all(each.isprintable() or each == "\n" for each in attacked.screen)


def told(found: Graded, student: str) -> bool:
    """Whether it is said why a student has not all points, where that is so."""
    reports = [
        each
        for path, each in found.reports.items()
        if path.startswith("reports/") and each["submission"]["student"] == student
    ]
    if any(each["score"] == each["max_score"] for each in reports):
        return True
    if reports:
        return any(each["problems"] for each in reports) or any(
            test["message"] for each in reports for test in each["tests"]
        )
    files = [
        file
        for each in found.run["ungraded"]
        if each["student"] == student
        for file in each["files"]
    ]
    reasons = {each["file"]: each["reason"] for each in found.run["unattributed"]}
    return bool(files) and any(reasons.get(file) for file in files)
