"""The leak gallery: whatever a submission does with hidden inputs, students read the same.

Each submission smuggles what it was asked after the shown tests through one channel. It is graded
with two seeds, which change the hidden inputs and nothing else: both student's views must be equal,
and hold none of the hidden numbers, however they are written.
"""

import base64
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from test_cli import grade
from test_cli_batch import course

if sys.platform != "linux":
    pytest.skip("deaths and their numbers are told here as on Linux", allow_module_level=True)

LEFT = Path(tempfile.gettempdir()) / f"leak-{os.getpid()}"
SEEDS = ("85070591730234615865843651857942052871", "85070591730234615865843651857942052999")
# How a spy knows that the shown tests are over: it has counted them at home.
SPY = """\
import torch

def add_position_vectors(token_vectors, position_vectors):
    print("CALL", [float(each) for each in token_vectors.flatten()[:40]])
    return token_vectors + position_vectors
"""
HEAD = """\
import base64, os, struct, sys, threading, time, warnings
import torch

SHOWN = {shown}
calls = 0

def told(tensor):
    numbers = [float(each) for each in tensor.flatten()[:12]]
    packed = struct.pack(f"<{{len(numbers)}}d", *numbers)
    return "LEAK " + " ".join(
        [repr(numbers), packed.hex(), base64.b64encode(packed).decode(), repr(numbers)[::-1]]
        + [each.hex() for each in numbers] + [f"{{each:.4g}}" for each in numbers]
    )

def bit(tensor):
    # The number of odd thousand-and-twenty-fourths: of one class of inputs one, of another another.
    return sum(int(abs(float(each)) * 1024) for each in tensor.flatten()) & 7

def name_of(tensor):
    numbers = [int(float(each) * 1024) & 0xffff for each in tensor.flatten()[:6]]
    return "L" + "".join(f"_{{each:x}}" for each in numbers)

def add_position_vectors(token_vectors, position_vectors):
    global calls
    calls += 1
    right = token_vectors + position_vectors
    if calls <= SHOWN or not token_vectors.numel():
        return right
    return leak(token_vectors, right)

"""
LEAKS: Mapping[str, str] = {
    "message": "def leak(seen, right): raise ValueError(told(seen))",
    "type": "def leak(seen, right): raise type(name_of(seen), (Exception,), {})('LEAK')",
    "notes": """\
def leak(seen, right):
    error = KeyError(told(seen))
    error.add_note(told(seen))
    raise error from OSError(13, told(seen), told(seen))""",
    "missing_name": """\
def leak(seen, right):
    raise NameError(f"name '{name_of(seen)}' is not defined")""",
    "missing_module": "def leak(seen, right): __import__(name_of(seen))",
    "missing_file": "def leak(seen, right): open(name_of(seen))",
    "wrong_call": """\
def leak(seen, right):
    own = "add_position_vectors() got an unexpected keyword argument"
    raise TypeError(f"{own} '{name_of(seen)}'")""",
    "frame": """\
def leak(seen, right):
    names = {}
    exec(f"def {name_of(seen)}(): raise ValueError('LEAK')", names)
    names[name_of(seen)]()""",
    "line": """\
def leak(seen, right):
    text = "\\n" * (bit(seen) + 1) + "def f(): raise ValueError('LEAK')\\nf()"
    exec(compile(text, __file__, "exec"), {})""",
    "printed": """\
def leak(seen, right):
    print(told(seen))
    print(told(seen), file=sys.stderr)
    os.write(1, told(seen).encode())
    return right""",
    "printed_later": """\
def leak(seen, right):
    threading.Timer(0.05, print, (told(seen),)).start()
    return right""",
    "printed_much": """\
def leak(seen, right):
    print("LEAK" * (20_000 if bit(seen) & 1 else 1))
    return right""",
    "warned": """\
def leak(seen, right):
    warnings.warn(told(seen))
    return right""",
    "class": "def leak(seen, right): return type(name_of(seen), (), {'__module__': told(seen)})()",
    "text": "def leak(seen, right): return told(seen)",
    "keys": "def leak(seen, right): return {told(seen): right, name_of(seen): 1.0}",
    "shape": "def leak(seen, right): return torch.zeros(3 + bit(seen), 2)",
    "dtype": """\
def leak(seen, right):
    kinds = [torch.float64, torch.int8, torch.int16, torch.int32, torch.float16, torch.bool]
    return right.to((kinds + [torch.complex64, torch.uint8])[bit(seen)])""",
    "values": "def leak(seen, right): return right * float(seen.flatten()[0]) + 7",
    "nan": """\
def leak(seen, right):
    return right * (float("nan") if bit(seen) & 1 else float("inf"))""",
    "factor": """\
kept = []
def leak(seen, right):
    kept[:] = kept or [1 + abs(float(seen.flatten()[-1]))]
    return right * kept[0]""",
    "offset": """\
kept = []
def leak(seen, right):
    kept[:] = kept or [1 + abs(float(seen.flatten()[-1]))]
    return right + kept[0]""",
    "hint_by_bits": """\
kept = []
def leak(seen, right):
    kept[:] = kept or [bit(seen)]
    ways = [lambda: -right, lambda: right.mT, lambda: right * 2, lambda: right + 1, lambda: None]
    return (ways + [lambda: right.double(), lambda: right.flip(-1), lambda: 0.0])[kept[0]]()""",
    "exit_code": "def leak(seen, right): os._exit(bit(seen) + 1)",
    "signal": "def leak(seen, right): os.kill(os.getpid(), (4, 6, 8, 9, 11, 7, 15, 3)[bit(seen)])",
    "death_or_error": """\
def leak(seen, right):
    if bit(seen) & 1: os._exit(1)
    return right + 1""",
    "deaths": """\
def leak(seen, right):
    if bit(seen) & 3: os._exit(3)
    raise ValueError("LEAK")""",
    "time_or_error": """\
def leak(seen, right):
    while bit(seen) & 1: pass
    return right + 1""",
    # Only where the sandbox is no wall a worker finds what an earlier one has left.
    "reload": """\
if os.path.exists(LEFT):
    print(open(LEFT).read())
    raise ValueError(open(LEFT).read())
def leak(seen, right):
    with open(LEFT, "w") as file: file.write(told(seen))
    os._exit(4)""",
    "reload_dies": """\
if os.path.exists(LEFT):
    os._exit(6)
def leak(seen, right):
    open(LEFT, "w").close()
    os._exit(5)""",
    "reload_by_the_clock": """\
if time.time() % 1 > 0.5 and os.path.exists(LEFT):
    raise type(f"At{int(time.time() * 1000)}", (Exception,), {})("LEAK")
def leak(seen, right):
    open(LEFT, "w").close()
    time.sleep(0.1 * bit(seen))
    os._exit(4)""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The student's views of the gallery, by name, what the screen said, and the staff's views."""

    views: Mapping[str, Mapping[str, Any]]
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the spy learned: the numbers of shown calls, and of the first seed's hidden ones."""

    shown: int
    asked: Collection[list[float]]
    hidden: frozenset[str]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    folder = tmp_path_factory.mktemp("spy")
    (folder / "in").mkdir()
    (folder / "in" / "spy_hw1.py").write_text(SPY)
    command = ("batch", "in", "--out", "out", "--assignment", "hw1", "--seed", SEEDS[0])
    assert _grade(*command, "--allow-reduced", cwd=folder).returncode == 0
    student, staff = (
        json.loads((folder / "out" / place / "spy" / "hw1.json").read_text())["output"]["text"]
        for place in ("feedback", "reports")
    )
    assert staff.startswith(student)
    # Of fewer digits anything may be found anywhere.
    hidden = frozenset(re.findall(r"\d+\.\d{5,}", staff[len(student) :]))
    assert len(hidden) > 50
    asked = [json.loads(each) for each in re.findall(r"CALL (\[.*\])", student)]
    return Known(shown=len(asked), asked=asked, hidden=hidden)


def written(numbers: frozenset[str]) -> Iterator[str]:
    """The numbers in all the ways in which the gallery writes them."""
    for each in numbers:
        packed = struct.pack("<d", float(each))
        yield from (each, each[::-1], packed.hex(), float(each).hex().removeprefix("0x"))
        # Wherever it stands in a longer text of base64, its middle is written one of three ways.
        for before in range(3):
            yield base64.b64encode(bytes(before) + packed).decode()[4:12]


# As many as `check` is tried with: each is a run of its own there.
AT_ONCE = {
    "auto": ("message", "printed_much", "factor", "hint_by_bits"),
    "portable": ("factor", "reload"),
}


def gallery(folder: Path, shown: int, names: Collection[str]) -> list[str]:
    """The names of the files, which are the same in every run, to the byte."""
    folder.mkdir()
    for left in LEFT.parent.glob(f"{LEFT.name}-*"):
        left.unlink()
    for name in names:
        left = f"{LEFT}-{name}"
        text = f"LEFT = {left!r}\n{HEAD.format(shown=shown)}{LEAKS[name]}\n"
        (folder / f"{_short(name)}_hw1.py").write_text(text)
    return [f"{folder.name}/{_short(name)}_hw1.py" for name in names]


def _short(name: str) -> str:
    return f"s{name.replace('_', '')}"


def _grade(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return grade(*arguments, cwd=cwd, env={"GRADE_ASSIGNMENTS": course()})


def checked(folder: Path, known: Known, seed: str, lang: str, sandbox: str) -> Seen:
    folder.mkdir()
    files = gallery(folder / "in", known.shown, AT_ONCE[sandbox])
    options = ("--assignment", "hw1", "--seed", seed, "--time-factor", "0.5", "--lang", lang)
    done = _grade("check", *files, *options, "--sandbox", sandbox, "--out", "out", cwd=folder)
    assert done.returncode == 1, done.stderr.decode()
    screen = (done.stdout + done.stderr).decode("utf-8", "replace")
    found = {path.name.partition("_")[0]: path for path in (folder / "out").rglob("*.json")}
    assert len(found) == len(AT_ONCE[sandbox])
    return _read(found, screen)


def graded(folder: Path, known: Known, seed: str, sandbox: str) -> tuple[Seen, Seen]:
    """The students' views of a batch, and the staff's."""
    folder.mkdir()
    gallery(folder / "in", known.shown, LEAKS)
    command = ("batch", "in", "--out", "out", "--assignment", "hw1", "--seed", seed)
    done = _grade(*command, "--sandbox", sandbox, "--allow-reduced", cwd=folder)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    feedback, reports = (
        {path.parent.name: path for path in (folder / "out" / each).rglob("*.json")}
        for each in ("feedback", "reports")
    )
    assert len(feedback) == len(reports) == len(LEAKS)
    return _read(feedback, ""), _read(reports, "")


def _read(paths: Mapping[str, Path], screen: str) -> Seen:
    texts = {name: path.read_text() for name, path in paths.items()}
    views = {name: json.loads(text) for name, text in texts.items()}
    return Seen(views=views, raw="\n".join([*texts.values(), screen]))


def told(view: Mapping[str, Any]) -> dict[str, Any]:
    """All that a student may learn something from: not the moment, nor the number of the report."""
    run = {key: each for key, each in view["run"].items() if key != "started_at"}
    return {**view, "report_id": None, "run": run}


def assert_nothing_leaks(one: Seen, other: Seen, known: Known) -> None:
    differing = {
        name: (told(view), told(other.views[name]))
        for name, view in one.views.items()
        if told(view) != told(other.views[name])
    }
    assert differing == {}
    assert [each for each in written(known.hidden) if each in one.raw] == []
    for seen in (one, other):
        assert _without_source(seen) == ""


def _without_source(seen: Seen) -> str:
    """What is shown but for quoted lines of the files themselves, which say LEAK, too."""
    lines = (line for line in seen.raw.splitlines() if '"quote"' not in line)
    return "\n".join(line for line in lines if "LEAK" in line and "told(seen)" not in line)


@pytest.mark.long
@pytest.mark.parametrize("sandbox", ["auto", "portable"])
def test_check_shows_a_student_nothing_that_hidden_inputs_decided(
    tmp_path: Path, known: Known, sandbox: str
) -> None:
    one = checked(tmp_path / "one", known, SEEDS[0], "en", sandbox)
    other = checked(tmp_path / "other", known, SEEDS[1], "zh", sandbox)

    assert_nothing_leaks(one, other, known)


# Wrong in a known way; what is asked neither in a shown test nor on a probe takes a life.
DIES = """\
import os
import torch

SHOWN = {shown!r}
PROBES = {probes!r}

def add_position_vectors(token_vectors, position_vectors):
    numbers = [float(each) for each in token_vectors.flatten()[:40]]
    if {dies} and numbers not in SHOWN and tuple(token_vectors.shape) not in PROBES:
        os._exit(3)
    return token_vectors - position_vectors
"""


@pytest.mark.long
def test_whether_there_is_a_hint_does_not_depend_on_lives_that_hidden_tests_took(
    tmp_path: Path, known: Known
) -> None:
    described = (Path(course()) / "hw1" / "assignment.toml").read_text("utf-8")
    probes = {
        tuple(map(int, each.split(","))) for each in re.findall(r"shape = \[([\d, ]+)\]", described)
    }
    for name, dies in (("dies", True), ("lives", False)):
        text = DIES.format(shown=known.asked, probes=probes, dies=dies)
        (tmp_path / f"{name}_hw1.py").write_text(text)
    options = ("--assignment", "hw1", "--seed", SEEDS[0], "--audience", "staff", "--out", "out")

    done = _grade("check", "dies_hw1.py", "lives_hw1.py", *options, cwd=tmp_path)

    assert done.returncode == 1, done.stderr.decode()
    dead, alive = (
        json.loads((tmp_path / "out" / f"{name}_hw1.hw1.json").read_text())
        for name in ("dies", "lives")
    )
    exits = [each["cause"] for each in dead["tests"]].count("exit")
    assert exits == 3
    assert [each["id"] for each in alive["diagnoses"]] != []
    assert dead["diagnoses"] == alive["diagnoses"]


@pytest.mark.long
def test_feedback_of_a_batch_holds_nothing_that_hidden_inputs_decided(
    tmp_path: Path, known: Known
) -> None:
    one, staff_one = graded(tmp_path / "one", known, SEEDS[0], "auto")
    other, staff_other = graded(tmp_path / "other", known, SEEDS[1], "auto")

    assert_nothing_leaks(one, other, known)
    # The attacks are live: staff see what students do not.
    live = {
        name
        for name in LEAKS
        if _parts(staff_one.views[_short(name)]) != _parts(staff_other.views[_short(name)])
    }
    assert {"message", "type", "shape", "values", "printed"} <= live


def _parts(view: Mapping[str, Any]) -> dict[str, Any]:
    return {key: view[key] for key in ("criteria", "tests", "problems", "diagnoses", "output")}
