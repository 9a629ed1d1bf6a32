"""The hostile gallery through the real command, at the level `full`, as root and as anybody.

Each file of `hostile/` says in its first line (a notebook in its first cell) what it tries;
`hostile/expected.toml` says what it earns and what must not happen. In the files `/outside` and
`/course` stand for folders of the test. An attack that would hurt uses a harmless form of what it
needs, and prints SUCCEEDED.
"""

import json
import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

if sys.platform != "linux":
    pytest.skip("the level full is Linux's", allow_module_level=True)

from conftest import Lifeline, a_session
from test_cli import LOCALE, ROOT

from grader.model import Returned
from grader.sandbox.linux import kernel, landlock, seccomp
from grader.sandbox.portable import PortableBench

# Elsewhere these attacks would do what they try.
pytestmark = pytest.mark.skipif(
    not (landlock.version() and seccomp.available()), reason="the kernel lacks Landlock or seccomp"
)

GALLERY = Path(__file__).parent / "hostile"
EXPECTED = tomllib.loads((GALLERY / "expected.toml").read_text("utf-8"))
NAMES = sorted(EXPECTED)
FILES = {path.stem: path for path in GALLERY.iterdir() if path.suffix in (".py", ".ipynb")}
NOTEBOOKS = [name for name, path in FILES.items() if path.suffix == ".ipynb"]
KINDS = {"earned", "read", "written", "left_running", "harmed", "shown", "lost"}
SOME = [
    "computes_after_all",
    "daemon",
    "frame_two_answers",
    "heap_walk",
    "kill_everyone",
    "nan_everywhere",
    "notebook_magics",
    "notebook_many_errors",
    "read_home",
    "read_the_suite",
    "terminal_escapes",
    "torch_allclose",
    "write_beside_itself",
]
# What threads, descriptors, command lines and reloads are good for; tried on a class, too.
IN_A_CLASS = [
    "limits_raised",
    "read_the_command_line",
    "tells_at_the_reload",
    "tells_by_a_factor",
    "tells_by_its_number",
    "threads_that_multiply",
    "threads_while_loading",
    "threads_with_small_stacks",
    "who_is_at_the_other_end",
]
BATCHES = [NAMES[first::4] for first in range(4)]
HONEST = """\
import torch


def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors
"""
COURSE = ROOT / "assignments"
NESTED = "[" * 100_000 + "]" * 100_000
SUITE = next(COURSE.glob("hw1_*")) / "suite" / "test_hidden.py"
CANARY = "canary-5d1f0c"
# Nothing of these may be in a report or on a screen.
SECRETS = (
    f"{CANARY}-in-a-file",
    f"{CANARY}-in-the-environment",
    f"{CANARY}-in-a-suite",
    "def test_one_sentence",
    "The expected values are float64 sums",
    "root:x:0:0",
    "SUCCEEDED",
)
# Control characters, and those that change the direction of text or are not seen.
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
# Messages share 128 KiB (those of the first three losses may be added), and the printed text is
# there as head and tail.
MOST_BYTES = 400 << 10
NOBODY = 65534
SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a batch is graded, and what lies around it."""

    root: Path
    command: tuple[str, ...]
    uid: int

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def scratch(self) -> Path:
        return self.root / "tmp"

    @property
    def canaries(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """What is in the folders that nobody may change, with modes, owners, links and times."""
        found = sorted(
            path
            for name in ("canary", "home", "work")
            for path in (self.root / name).rglob("*")
            if "reports" not in path.parts
        )
        return {
            str(path): (path.read_text() if path.is_file() else "", _about(path)) for path in found
        }


def _about(path: Path) -> tuple[int, ...]:
    seen = path.stat()
    return seen.st_mode, seen.st_uid, seen.st_gid, seen.st_nlink, seen.st_mtime_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What came of a batch."""

    screen: bytes
    reports: Mapping[str, dict[str, Any]]
    raw: Mapping[str, bytes]
    left_running: Sequence[str]


@pytest.fixture(scope="module")
def ordinary_python() -> Iterator[str]:
    """A Python that every user can run, with the packages of this one."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("becoming an ordinary user takes root and setpriv")
    folder = Path(tempfile.mkdtemp(prefix="python-"))
    folder.chmod(0o755)
    try:
        yield _python_in(folder)
    finally:
        shutil.rmtree(folder)


def _python_in(folder: Path) -> str:
    base = "/usr/bin/python3"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    asked = [base, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    if not Path(base).exists() or subprocess.check_output(asked, text=True).strip() != version:
        pytest.skip(f"needs a Python {version} of the system")
    python = folder / "bin" / "python"
    venv.EnvBuilder(with_pip=False, symlinks=True).ensure_directories(folder)
    made = subprocess.run(
        [base, "-m", "venv", "--without-pip", str(folder)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("the Python of the system makes no environments")
    lines = "".join(f"import site; site.addsitedir({each!r})\n" for each in site.getsitepackages())
    (folder / "lib" / f"python{version}" / "site-packages" / "running.pth").write_text(lines)
    tried = [*_become(), str(python), "-c", "import torch, grader.cli.entry"]
    done = subprocess.run(tried, cwd="/", env={"PYTHONPATH": str(ROOT)}, check=False)
    if done.returncode:
        pytest.skip("an ordinary user cannot read these packages or this checkout")
    return str(python)


def _become() -> list[str]:
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]


@pytest.fixture
def place() -> Iterator[Place]:
    yield from _place((sys.executable,), os.geteuid())


@pytest.fixture
def ordinary_place(ordinary_python: str) -> Iterator[Place]:
    yield from _place((*_become(), ordinary_python), NOBODY)


def _place(command: tuple[str, ...], uid: int) -> Iterator[Place]:
    """Not below pytest's own folder, which is closed to others."""
    root = Path(tempfile.mkdtemp(prefix="hostile-")).resolve()
    made = Place(root=root, command=command, uid=uid)
    for name in ("work", "tmp", "home", "canary"):
        (root / name).mkdir()
    (root / "home" / "secret.txt").write_text(f"{CANARY}-in-a-file\n")
    (root / "canary" / "suite.py").write_text(f"expected = '{CANARY}-in-a-suite'\n")
    for path in (root, *root.rglob("*")):
        os.chown(path, uid, -1)
        # As far as modes go anybody may do anything there.
        path.chmod(0o777 if path.is_dir() else 0o666)
    _adopt(orphans=True)
    yield made
    _adopt(orphans=False)
    shutil.rmtree(root, ignore_errors=True)


def _adopt(*, orphans: bool) -> None:
    """Become the parent of whatever loses its own: a daemon cannot get out of sight."""
    kernel.prctl(SET_CHILD_SUBREAPER, int(orphans))


def graded(place: Place, names: Sequence[str], *options: str) -> Graded:
    """Grade these files and an honest one by one command."""
    (place.work / "honest.py").write_text(HONEST)
    for name in names:
        text = FILES[name].read_text("utf-8")
        text = text.replace("/outside", str(place.root)).replace("/course", str(COURSE))
        if name in NOTEBOOKS:
            text = text.replace("HUGE", "x" * (1 << 21)).replace('"NESTED"', NESTED)
        (place.work / FILES[name].name).write_text(text, "utf-8")
    for path in place.work.iterdir():
        path.chmod(0o666)
    done = _grade(
        place, "check", *(FILES[each].name for each in names), "honest.py", *OPTIONS, *options
    )
    raw = {path.name: path.read_bytes() for path in (place.work / "reports").rglob("*.json")}
    found = [json.loads(each) for each in raw.values()]
    left = [" ".join(each.cmdline()) for each in psutil.Process().children(recursive=True)]
    return Graded(
        screen=done.stdout + done.stderr,
        reports={Path(each["submission"]["file"]).stem: each for each in found},
        raw=raw,
        left_running=left,
    )


# Staff see more: what is not there, students do not see either.
OPTIONS = (
    "--out",
    "reports",
    "--time-factor",
    "0.25",
    "--audience",
    "staff",
    "--assignment",
    "hw1",
)


def _grade(place: Place, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
    own = {
        "HOME": str(place.root / "home"),
        "TMPDIR": str(place.scratch),
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        "COURSE_KEY": f"{CANARY}-in-the-environment",
    }
    return subprocess.run(
        [*place.command, "-m", "grader", "--assignments", str(COURSE), *arguments],
        cwd=place.work,
        env=clean | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def assert_nothing_happened(place: Place, names: Sequence[str]) -> None:
    """Grade, and look at everything that an attack could have changed."""
    (place.work / "honest.py").write_text(HONEST)
    before = {key: each for key, each in place.canaries.items() if "/work" not in key}
    packages = _packages()

    seen = graded(place, names)

    after = place.canaries
    assert set(seen.reports) == {*names, "honest"}, seen.screen.decode("utf-8", "replace")[-4000:]
    assert {name: _told(seen.reports[name]) for name in names} == {
        name: _expected(name) for name in names
    }
    assert _told(seen.reports["honest"]) == ("graded", "full", 10)
    assert _secrets(seen.screen) == []
    assert {name: found for name, each in seen.raw.items() if (found := _secrets(each))} == {}
    assert _steering(seen.screen) == ""
    assert {name: len(each) for name, each in seen.raw.items() if len(each) > MOST_BYTES} == {}
    assert {key: each for key, each in after.items() if "/work" not in key} == before
    assert _work(place) == {*names, "honest"}
    assert (place.work / "honest.py").read_text() == HONEST
    assert [each.name for each in place.scratch.iterdir()] == []
    assert seen.left_running == []
    assert _packages() == packages
    valid = _grade(place, "validate", *(str(each) for each in (place.work / "reports").rglob("*")))
    assert valid.returncode == 0, valid.stdout


def _expected(name: str) -> tuple[str, str | None, int]:
    status = EXPECTED[name].get("status", "graded")
    return status, "full" if status == "graded" else None, EXPECTED[name]["score"]


def _told(report: Mapping[str, Any]) -> tuple[str, str | None, int]:
    return report["status"], report["run"]["sandbox"]["level"], report["score"]


def _secrets(told: bytes) -> list[str]:
    return [each for each in SECRETS if each.encode() in told]


def _steering(screen: bytes) -> str:
    return "".join(STEERING.findall(screen.decode("utf-8")))


def _work(place: Place) -> set[str]:
    return {each.stem for each in place.work.iterdir() if each.name != "reports"}


def _packages() -> set[str]:
    """The names beside the installed packages, where a .pth would be found."""
    return {each.name for place in site.getsitepackages() for each in Path(place).iterdir()}


def test_the_hostile_gallery_is_complete_and_says_what_it_tries() -> None:
    said = {name: _first_words(path) for name, path in FILES.items()}

    assert sorted(said) == NAMES
    assert len(said) - len(NOTEBOOKS) >= 60
    assert len(NOTEBOOKS) >= 6
    assert [name for name, words in said.items() if not re.fullmatch(r"\w.{20,}", words)] == []
    assert {kind for each in EXPECTED.values() for kind in each["never"]} == KINDS


def _first_words(path: Path) -> str:
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        return str(json.loads(text)["cells"][0]["source"])
    return text.partition("\n")[0].removeprefix("# ")


def test_a_few_of_the_worst_attacks_gain_nothing(place: Place) -> None:
    assert_nothing_happened(place, SOME)


@pytest.mark.long
@pytest.mark.parametrize("sandbox", ["auto", "portable"])
def test_a_student_does_not_learn_the_hidden_inputs_from_what_the_file_says(
    place: Place, sandbox: str
) -> None:
    name = "tells_hidden_inputs"

    staff = graded(place, [name], "--sandbox", sandbox).raw[f"{name}.hw1.json"]
    seen = graded(place, [name], "--audience", "student", "--sandbox", sandbox)

    assert b"shape 3x7" in staff
    assert b"shape 3x7" not in seen.raw[f"{name}.hw1.json"] + seen.screen
    assert b"shape " in seen.raw[f"{name}.hw1.json"]


@pytest.mark.long
@pytest.mark.parametrize("names", BATCHES, ids=lambda names: names[0])
def test_no_attack_gains_reads_changes_or_leaves_anything(place: Place, names: list[str]) -> None:
    assert_nothing_happened(place, names)


@pytest.mark.long
@pytest.mark.parametrize("names", BATCHES, ids=lambda names: names[0])
def test_no_attack_on_an_ordinary_user_does_either(ordinary_place: Place, names: list[str]) -> None:
    assert_nothing_happened(ordinary_place, names)


# --- a class -----------------------------------------------------------------------------------


def graded_in_a_class(place: Place, *options: str) -> tuple[dict[str, int], bytes]:
    """The scores, and all that was written and shown."""
    for name in (*IN_A_CLASS, "honest"):
        folder = place.work / "in" / name.replace("_", "-")
        folder.mkdir(parents=True)
        text = HONEST if name == "honest" else FILES[name].read_text("utf-8")
        text = text.replace("/outside", str(place.root)).replace("/course", str(COURSE))
        (folder / "hw1.py").write_text(text, "utf-8")
    for path in (place.work / "in", *(place.work / "in").rglob("*")):
        os.chown(path, place.uid, -1)
    command = ("batch", "in", "--out", "out", "--assignment", "hw1", "--jobs", "2", *options)
    done = _grade(place, *command)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    found = {path: path.read_bytes() for path in (place.work / "out").rglob("*.json")}
    scores = {
        path.parent.name.replace("-", "_"): json.loads(each)["score"]
        for path, each in found.items()
        if path.parents[1].name == "reports"
    }
    return scores, b"".join([done.stdout, done.stderr, *found.values()])


def assert_a_class_is_safe(place: Place) -> None:
    before = {key: each for key, each in place.canaries.items() if "/work" not in key}

    scores, told = graded_in_a_class(place)

    assert scores == {**{name: EXPECTED[name]["score"] for name in IN_A_CLASS}, "honest": 10}
    assert _secrets(told) == []
    assert {key: each for key, each in place.canaries.items() if "/work" not in key} == before
    assert [each.name for each in place.scratch.iterdir()] == []
    assert psutil.Process().children(recursive=True) == []


@pytest.mark.long
def test_in_a_class_no_attack_reaches_anybody_else(place: Place) -> None:
    assert_a_class_is_safe(place)


@pytest.mark.long
def test_in_a_class_that_an_ordinary_user_grades_neither(ordinary_place: Place) -> None:
    assert_a_class_is_safe(ordinary_place)


@pytest.mark.long
def test_in_a_class_without_the_kernels_help_everybody_gets_the_right_score(
    ordinary_place: Place,
) -> None:
    scores, _ = graded_in_a_class(ordinary_place, "--sandbox", "portable", "--allow-reduced")

    assert scores == {**{name: EXPECTED[name]["score"] for name in IN_A_CLASS}, "honest": 10}
    assert psutil.Process().children(recursive=True) == []


# --- the level reduced: still nothing that is not computed ------------------------------------

# Tampering inside Python and with the protocol; what reaches for files would find them there.
INSIDE = [name for name in NAMES if EXPECTED[name]["never"] == ["earned"]]


@pytest.mark.long
def test_without_the_kernels_help_no_tampering_earns_a_point(place: Place) -> None:
    seen = graded(place, INSIDE, "--sandbox", "portable")

    assert {name: each["score"] for name, each in seen.reports.items()} == {
        **{name: EXPECTED[name]["score"] for name in INSIDE},
        "honest": 10,
    }
    assert seen.left_running == []
    assert [each.name for each in place.scratch.iterdir()] == []


# Each takes a worker of its own or several; the others are tried in a class.
AS_SPAWNED = ["tells_at_the_reload", "threads_while_loading", "threads_with_small_stacks"]


@pytest.mark.long
def test_nor_do_threads_and_reloads(place: Place) -> None:
    seen = graded(place, AS_SPAWNED, "--sandbox", "portable")

    assert {name: each["score"] for name, each in seen.reports.items()} == {
        **{name: EXPECTED[name]["score"] for name in AS_SPAWNED},
        "honest": 10,
    }
    assert seen.left_running == []


DAEMONS = ["daemon", "daemon_without_a_trace"]


@pytest.mark.long
def test_no_daemon_outlives_a_portable_worker(place: Place) -> None:
    seen = graded(place, DAEMONS, "--sandbox", "portable")

    assert {name: each["score"] for name, each in seen.reports.items()} == {
        **dict.fromkeys(DAEMONS, 0),
        "honest": 10,
    }
    assert seen.left_running == []


@pytest.mark.long
def test_without_the_kernels_help_an_ordinary_users_grader_is_not_read_and_nothing_stays(
    ordinary_place: Place,
) -> None:
    names = [*DAEMONS, "read_the_front_desk", "read_the_parents_memory"]

    seen = graded(ordinary_place, names, "--sandbox", "portable")

    assert {name: each["score"] for name, each in seen.reports.items()} == {
        **dict.fromkeys(names, 0),
        "honest": 10,
    }
    assert {name: found for name, each in seen.raw.items() if (found := _secrets(each))} == {}
    assert seen.left_running == []


NESTS_FOLDERS = """\
import os

def nest():
    for _ in range(3000):
        os.mkdir("deeper")
        os.chdir("deeper")
    return 1
"""


def test_a_spawned_worker_lives_within_little_memory_and_leaves_no_folder(
    tmp_path: Path, lifeline: Lifeline
) -> None:
    bench = PortableBench(tmp_path, lifeline.reader, lifeline.abandoned)
    session = a_session(bench, NESTS_FOLDERS, memory_mib=64, call_s=20.0, load_s=20.0)

    seen = session.call("nest")
    session.close()
    bench.close()

    assert isinstance(seen, Returned), seen
    assert list(tmp_path.iterdir()) == []
