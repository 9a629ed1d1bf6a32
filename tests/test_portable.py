"""The portable sandbox: the same sessions over spawned workers and pipes."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import torch
from conftest import Lifeline, a_session, folder_for

from grader.model import Died, Observation, Raised, Returned
from grader.sandbox import session, wire
from grader.sandbox.portable import PortableBench
from grader.sandbox.session import Session

# A spawned worker imports torch, which takes a second, so that the tests share sessions.
ANY = """
import os, signal, struct, sys, time

def double(x):
    print("doubling")
    return x * 2
def fail(): return 1 / 0
def loaded(): return sorted(k for k in sys.modules if k.split(".")[0] == "grader")
def stdin(): return sys.stdin.read()
def ask(): return input()
def home(): return os.getcwd()
def big():
    import torch
    return torch.zeros(2 << 20)
def talk():
    print("first")
    print("x" * 3_000_000)
    print("last")
    return 1
def write_everywhere():
    for each in range(3, 64):
        try: os.write(each, struct.pack(">II", 2, 0) + b"{}")
        except OSError: pass
    return 1
def exit_now(): os._exit(3)
def die(): os.kill(os.getpid(), 9)
def loop():
    while True: pass
def sleep(): time.sleep(600)
def start_child():
    import subprocess
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid
"""


def value_of(seen: Observation) -> object:
    assert isinstance(seen, Returned), seen
    return seen.value


def death_of(seen: Observation) -> tuple[str, str]:
    assert isinstance(seen, Died), seen
    return seen.cause, seen.detail


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory, lifeline: Lifeline) -> Iterator[Path]:
    yield folder_for(tmp_path_factory)


@pytest.fixture(scope="module")
def workers(portable: Path, lifeline: Lifeline) -> Iterator[PortableBench]:
    made = PortableBench(portable, lifeline.reader, lifeline.abandoned)
    yield made
    made.close()


@pytest.fixture(scope="module")
def living(workers: PortableBench) -> Iterator[Session]:
    """A session whose worker no test ends."""
    opened = a_session(workers, ANY, output_kib=4, call_s=5.0)
    yield opened
    opened.close()


def test_values_cross_and_output_is_kept(living: Session) -> None:
    seen = living.call("double", [torch.tensor([1.5])])

    assert torch.equal(value_of(seen), torch.tensor([3.0]))  # type: ignore[arg-type]


def test_an_exception_is_told(living: Session) -> None:
    seen = living.call("fail")

    assert isinstance(seen, Raised)
    assert (seen.type, seen.trace[-1].function) == ("ZeroDivisionError", "fail")


def test_of_the_package_only_worker_and_wire_are_loaded(living: Session) -> None:
    assert value_of(living.call("loaded")) == [
        "grader",
        "grader.sandbox",
        "grader.sandbox.wire",
        "grader.sandbox.worker",
    ]


def test_stdin_is_closed(living: Session) -> None:
    asked = living.call("ask")

    assert isinstance(asked, Raised)
    assert "nobody to ask" in asked.message
    assert value_of(living.call("stdin")) == ""


def test_a_large_answer_is_described(living: Session) -> None:
    assert value_of(living.call("big")) == wire.Oversized("float32", (2 << 20,))


def test_deaths_are_told_with_their_cause_and_workers_are_replaced(
    workers: PortableBench, portable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = a_session(workers, ANY)
    homes = [value_of(opened.call("home"))]
    seen = [death_of(opened.call("exit_now")), death_of(opened.call("loop"))]
    homes.append(value_of(opened.call("home")))
    child = value_of(opened.call("start_child"))
    monkeypatch.setattr(session, "WALL_LEAST_S", 0.3)
    monkeypatch.setattr(session, "WALL_FACTOR", 1.0)
    seen.append(death_of(opened.call("sleep")))
    opened.close()

    assert seen == [("exit", "3"), ("timeout", ""), ("timeout", "")]
    assert homes[0] != homes[1]
    assert not [home for home in homes if Path(str(home)).exists()]
    assert not psutil.pid_exists(int(str(child)))


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_forgery_and_signals_are_told_apart(workers: PortableBench) -> None:
    opened = a_session(workers, ANY, output_kib=4, call_s=5.0)
    seen = [death_of(opened.call("die"))]
    forged = opened.call("write_everywhere")
    seen.append(death_of(opened.call("fail") if isinstance(forged, Returned) else forged))
    flood = value_of(opened.call("talk"))
    opened.close()

    assert seen[0] == ("signal", "SIGKILL")
    assert seen[1][0] == "garbled"
    assert flood == 1
    printed = opened.output.printed()
    assert printed.head.startswith("first\nxxx")
    assert printed.tail.endswith("xxx\nlast\n")
    assert printed.dropped_bytes == len("first\nlast\n") + 3_000_001 - 4096


JUDGE = """
import os, sys
from pathlib import Path
from conftest import a_session
from grader.sandbox.portable import PortableBench

bench = PortableBench(Path(sys.argv[1]), 0, lambda: os._exit(4))
session = a_session(bench, "def hang():\\n    while True: pass", call_s=100.0)
session.load()
print(*[each.popen.pid for each in bench.alive], flush=True)
session.call("hang")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a dead parent keeps its number there")
@pytest.mark.parametrize("end", ["killed", "abandoned"])
def test_when_the_judge_is_gone_its_workers_end_in_the_middle_of_a_loop(
    tmp_path: Path, end: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(JUDGE), str(tmp_path)],
        cwd=Path(__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    assert process.stdin is not None
    worker = psutil.Process(int(process.stdout.readline()))

    process.kill() if end == "killed" else process.stdin.close()
    process.wait(20)

    assert psutil.wait_procs([worker], timeout=20)[1] == []
    assert end == "killed" or list(tmp_path.iterdir()) == []
    process.stdin.close()
    process.stdout.close()
