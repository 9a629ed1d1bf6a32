"""An ordinary user with few processes to spare: a bomb in one submission costs no other a grade."""

import json
import os
import sys
from collections.abc import Iterator

import pytest

if sys.platform != "linux":
    pytest.skip(
        "limits of a user's processes are counted here as on Linux", allow_module_level=True
    )

from test_hostile import HONEST, Place, _grade, _place, ordinary_python

from grader.sandbox import tasks
from grader.sandbox.linux import privileges

__all__ = ["ordinary_python"]

FEW = 300
BOMB = """\
import threading, time

def start():
    threading.stack_size(32_768)
    for _ in range(2_000):
        try:
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        except (RuntimeError, MemoryError):
            # Long enough to be in everybody's way.
            time.sleep(0.5)
            break
"""
WHILE_LOADING = BOMB + "start()\n" + HONEST
WHEN_CALLED = BOMB + HONEST.replace("    return", "    start()\n    return")
# What a submission of another user's may not count on: processes, which are no threads.
FORKS = (
    """\
import os
for _ in range(200):
    try:
        if os.fork() == 0:
            os.setsid()
            import time
            time.sleep(600)
    except OSError:
        pass
"""
    + HONEST
)


@pytest.fixture
def crowded(ordinary_python: str) -> Iterator[Place]:
    """A user whom nobody else is, with few processes."""
    found = privileges.unused_identity(os.getpid())
    assert found is not None
    user = f"{found.uid}"
    become = ("setpriv", "--reuid", user, "--regid", user, "--clear-groups")
    few = ("prlimit", f"--nproc={FEW}:{FEW}")
    yield from _place((*become, *few, ordinary_python), found.uid)


def a_class(place: Place, honest: int, *bombs: str) -> None:
    folder = place.work / "in"
    folder.mkdir()
    for number in range(honest):
        (folder / f"honest{number:02d}_hw1.py").write_text(HONEST)
    for number, text in enumerate(bombs):
        # Between the others, in the order of names.
        (folder / f"honest{number * 2:02d}bomb_hw1.py").write_text(text)
    for path in (folder, *folder.iterdir()):
        os.chown(path, place.uid, -1)


def scores(place: Place) -> dict[str, tuple[str, int | None]]:
    found = [json.loads(each.read_bytes()) for each in (place.work / "out").rglob("hw1.json")]
    return {
        each["submission"]["student"]: (each["status"], each["score"])
        for each in found
        if each["audience"] == "staff" and "bomb" not in each["submission"]["student"]
    }


@pytest.mark.long
@pytest.mark.parametrize("sandbox", ["auto", "portable"])
def test_bombs_of_threads_and_processes_cost_nobody_else_a_grade(
    crowded: Place, sandbox: str
) -> None:
    a_class(crowded, 6, WHILE_LOADING, WHEN_CALLED, FORKS)

    command = ("batch", "in", "--out", "out", "--assignment", "hw1", "--jobs", "3", "--sandbox")
    done = _grade(crowded, *command, sandbox, "--allow-reduced")

    assert done.returncode in (0, 3), done.stderr.decode()
    assert scores(crowded) == {f"honest{number:02d}": ("graded", 10) for number in range(6)}, (
        done.stdout.decode() + done.stderr.decode()
    )


# --- who waits ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "refusal",
    [
        BlockingIOError(11, "Resource temporarily unavailable"),
        RuntimeError("can't start new thread"),
    ],
    ids=["a process", "a thread"],
)
def test_what_finds_no_room_for_a_process_is_started_once_there_is_some(
    refusal: Exception,
) -> None:
    refusals = [refusal, refusal, refusal]

    def start() -> str:
        if refusals:
            raise refusals.pop()
        return "running"

    assert tasks.started(start) == "running"
    assert refusals == []


def test_who_never_finds_room_is_told_why() -> None:
    def start() -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with pytest.raises(BlockingIOError, match="temporarily unavailable"):
        tasks.started(start, wait_s=0.05)


def test_another_error_is_told_at_once() -> None:
    asked = []

    def start() -> None:
        asked.append(1)
        raise PermissionError(1, "Operation not permitted")

    with pytest.raises(PermissionError):
        tasks.started(start)
    assert asked == [1]


@pytest.mark.parametrize(("allowed", "share"), [(-1, 128), (96_000, 128), (400, 50), (100, 32)])
def test_a_submission_gets_a_share_of_what_its_user_may_have(
    monkeypatch: pytest.MonkeyPatch, allowed: int, share: int
) -> None:
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (allowed, allowed))

    assert tasks.share() == share
