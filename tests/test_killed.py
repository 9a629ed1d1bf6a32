"""Killing any process at any moment, then the same command again: nothing lost, nothing twice.

A chain is one batch: the command is started, and processes of it are killed at random moments until
the chain has had its share; whenever the command itself is killed, or has ended, it is started
again. In the end it may run undisturbed, and what it leaves must be what an undisturbed batch
leaves. Moments are drawn from a seed and spread by waiting for real time or for what a run has
written; nothing is asserted about time.
"""

import contextlib
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from test_cli import LOCALE, ROOT

if sys.platform != "linux":
    pytest.skip("finds the processes that lost their parent as Linux does", allow_module_level=True)

from grader.sandbox.linux import landlock, seccomp

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (landlock.version() and seccomp.available()),
        reason="the kernel lacks Landlock or seccomp",
    ),
]

SEED = "188900112233445566778899"
STUDENTS = 30
CHAINS = 5
# Long enough for a machine that does much else.
PATIENCE_S = 240.0
PR_SET_CHILD_SUBREAPER = 36

ASSIGNMENT = """\
id = "tiny"
version = "1.0"
title = { en = "One function" }

[[entry_points]]
name = "double"
parameters = [{ name = "x", kind = "tensor" }]
result = { kind = "tensor", like = "x" }
"""

RUBRIC = """\
[[criteria]]
id = "double"
points = 10
title = { en = "Doubling" }
entry_points = ["double"]
"""

SUITE = """\
import pytest
import torch

from grader.suite.compare import assert_close


@pytest.mark.criterion("double")
def test_double(student, rng):
    x = rng.tensor(2, 3)
    assert_close(student.double(x), 2 * x, atol=0.0)
    assert_close(student.double(x + 1), 2 * x + 2, atol=0.0)
"""

# Slow without using the processor, so that there is something to kill.
RIGHT = """\
import time


def double(x):
    time.sleep(0.2)
    return 2 * x
"""
WRONG = RIGHT.replace("2 * x", "3 * x")
HALF = RIGHT.replace("return 2 * x", "raise ValueError('not yet')")
BROKEN = "def double(x:\n    return 2 * x\n"
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "a",
            "metadata": {},
            "outputs": [],
            "source": RIGHT,
        }
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture(scope="module")
def orphans() -> Iterator[None]:
    """Whatever loses its parent becomes this process's child, so that nothing gets out of sight."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course, a class, and what a batch that nobody disturbs leaves of it."""
    made = tmp_path_factory.mktemp("killed")
    tiny = made / "course" / "tiny"
    (tiny / "suite").mkdir(parents=True)
    for name, text in (
        ("assignment.toml", ASSIGNMENT),
        ("rubric.toml", RUBRIC),
        ("template.py", "def double(x):\n    ...\n"),
        ("reference.py", "def double(x):\n    return 2 * x\n"),
        ("suite/test_public.py", SUITE),
    ):
        (tiny / name).write_text(text, "utf-8")
    (made / "in").mkdir()
    for at in range(STUDENTS):
        text = (RIGHT, RIGHT, WRONG, HALF, json.dumps(NOTEBOOK), BROKEN)[at % 6]
        suffix = "ipynb" if text.startswith("{") else "py"
        again = f"# {at}\n" if suffix == "py" else " " * at
        (made / "in" / f"s{at:02}_tiny.{suffix}").write_text(text + again, "utf-8")
    (made / "calm").mkdir()
    result = started(made, "calm", made / "calm-tmp")
    assert result.wait(PATIENCE_S) == 0
    return made


def started(place: Path, out: str, private: Path) -> "subprocess.Popen[bytes]":
    """The command, whose processes have `private` for what they leave about."""
    private.mkdir(exist_ok=True)
    clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
    words = ("batch", "in", "--out", out, "--assignment", "tiny", "--jobs", "2", "--seed", SEED)
    with (place / f"{out}.screen").open("ab") as screen:
        return subprocess.Popen(
            [sys.executable, "-m", "grader", *words, "--assignments", "course"],
            cwd=place,
            env={**clean, "PYTHONPATH": str(ROOT), "TMPDIR": str(private)},
            stdin=subprocess.DEVNULL,
            stdout=screen,
            stderr=screen,
            # The terminal's Ctrl-C is sent by hand.
            start_new_session=True,
        )


def left(out: Path) -> dict[str, Any]:
    """Everything that a batch leaves, but for what differs from run to run."""
    files: dict[str, Any] = {}
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        if path.suffix == ".json" and path.parent != out:
            report = json.loads(path.read_bytes())
            report.pop("run")
            files[name] = report
        elif name == "run.json":
            run = json.loads(path.read_bytes())
            assert run["finished_at"]
            files[name] = {**run, "started_at": "", "finished_at": ""}
        elif path.is_file():
            files[name] = path.read_bytes()
        else:
            files[name] = None
    return files


# --- whom to kill --------------------------------------------------------------------------------


def kind_of(process: psutil.Process, client: int) -> str:
    """What a process below the command is."""
    if process.pid == client:
        return "client"
    told = " ".join(process.cmdline())
    parent = process.parent()
    above = " ".join(parent.cmdline()) if parent is not None else ""
    if "reader" in told:
        return "reader"
    if "torchgrade-worker" in told:
        return "worker" if "torchgrade-worker" in above else "zygote"
    if "torchgrade-judge" in told:
        return "forked judge" if "torchgrade-judge" in above else "judge"
    # It has just begun, and imports what it needs.
    return "beginner"


def running(client: int, kind: str) -> list[psutil.Process]:
    """The processes of one kind below a command, or itself."""
    found = []
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(client)
        for each in (top, *top.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                if each.status() != psutil.STATUS_ZOMBIE and kind_of(each, client) == kind:
                    found.append(each)
    return sorted(found, key=lambda each: each.pid)


# What is killed in a chain, first to last: the command while it starts; then anything, in a drawn
# order, while it grades; then the command while it finds that nothing is left to do.
FIRST = ("client",) * 10 + ("beginner",) * 2 + ("reader",)
THEN = (
    ("worker",) * 10
    + ("reader",) * 3
    + ("forked judge",) * 2
    + ("judge", "zygote", "client writing", "client writing")
)
LAST = ("client",) * 9
KILLS = len(FIRST) + len(THEN) + len(LAST)
# Reports between two of a kind. What is killed each time that it is tried is given up in the end,
# as something that kills itself: here no submission is to have so much bad luck.
APART = {"worker": 3, "reader": 3}
ENDED_BY_US = (-9, -15, -2, 130, 143)
CLIENT_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass
class Chain:
    """One batch that is killed again and again.

    Args:
        after: how many reports there were when a process of a kind was last killed.
        codes: the exit codes of the runs that ended by themselves.
    """

    place: Path
    out: str
    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    after: dict[str, int] = field(default_factory=dict)
    codes: list[int] = field(default_factory=list)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def folder(self) -> Path:
        return self.place / self.out

    @property
    def private(self) -> Path:
        return self.place / f"{self.out}-tmp"

    @property
    def screen(self) -> str:
        return (self.place / f"{self.out}.screen").read_text("utf-8")[-3000:]

    def kill(self, kind: str) -> None:
        """Kill a process of a kind at a random moment; where none comes, the command itself."""
        run = self._running()
        victim = None
        if kind == "client writing":
            self._wait_for_a_file(run)
        elif kind != "client":
            victim = self._waited_for(run, kind)
        time.sleep(self.chance.uniform(0.0, 0.7 if victim is None else 0.1))
        if victim is not None:
            with contextlib.suppress(psutil.Error):
                victim.kill()
                self.kills[kind] += 1
                self.after[kind] = self._reports()
            return
        if run.poll() is not None:
            self._note_end(run)
            return
        sent = self.chance.choice(CLIENT_SIGNALS)
        run.send_signal(sent)
        self.kills["client"] += 1
        # Where Python itself has not begun yet, an interrupt ends it with 1.
        if run.wait(PATIENCE_S) != 1 or sent != signal.SIGINT:
            self._note_end(run)

    def finish(self) -> None:
        """Let it run to its end; what failed only because of a kill is graded again."""
        for _ in range(2):
            self._note_end(self._running())
        assert self.codes[-1] == 0, self.screen

    def _running(self) -> "subprocess.Popen[bytes]":
        """The command of the moment: the one that is running, else another one."""
        if self.process is None or self.process.poll() is not None:
            self.process = started(self.place, self.out, self.private)
        return self.process

    def _waited_for(self, run: "subprocess.Popen[bytes]", kind: str) -> psutil.Process | None:
        """A process of a kind, as soon as one may be killed; None when the run has ended."""
        while run.poll() is None:
            far = self._reports() >= self.after.get(kind, -9) + APART.get(kind, 0)
            if far and (found := running(run.pid, kind)):
                return self.chance.choice(found)
            # To look at all processes of the machine costs more than to be one.
            time.sleep(0.08)
        return None

    def _wait_for_a_file(self, run: "subprocess.Popen[bytes]") -> None:
        """Return when a run has written something, or ended."""
        before = written(self.folder)
        while run.poll() is None and written(self.folder) == before:
            time.sleep(0.01)

    def _reports(self) -> int:
        return len(list((self.folder / "reports").glob("*/*.json")))

    def _note_end(self, run: "subprocess.Popen[bytes]") -> None:
        code = run.wait(PATIENCE_S)
        if code not in ENDED_BY_US:
            self.codes.append(code)
            assert honest(code, self.folder), (code, self.screen)


def honest(code: int, out: Path) -> bool:
    """Whether the exit code says what is in the folder."""
    reports = [json.loads(each.read_bytes()) for each in (out / "reports").glob("*/*.json")]
    fine = len(reports) == STUDENTS and all(each["status"] != "grader_failed" for each in reports)
    return code == (0 if fine else 3)


def written(out: Path) -> set[str]:
    with contextlib.suppress(OSError):
        return {f"{each}{each.stat().st_mtime_ns}" for each in (*out.glob("*"), *out.glob("*/*"))}
    return set()


# --- the tests -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(CHAINS))
def test_whoever_is_killed_at_whatever_moment_the_same_command_completes_the_batch(
    place: Path, orphans: None, number: int
) -> None:
    chain = Chain(place=place, out=f"out{number}", chance=random.Random(number))
    middle = [*THEN]
    chain.chance.shuffle(middle)
    for kind in (*FIRST, *middle, *LAST):
        chain.kill(kind)
    while sum(chain.kills.values()) < KILLS:
        chain.kill("client")
    chain.finish()

    assert left(chain.folder) == left(place / "calm")
    assert list(chain.private.iterdir()) == []
    assert psutil.wait_procs(psutil.Process().children(recursive=True), PATIENCE_S)[1] == []
