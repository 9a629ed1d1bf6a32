"""The zygote: what it leaves of a submission is nothing, however that or the judge ends."""

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from conftest import Lifeline, OpenSession, folder_for

from grader.model import Died, Observation, Returned
from grader.sandbox.forked import ForkedBench, available
from grader.sandbox.zygote import descendants

pytestmark = pytest.mark.skipif(not available(), reason="this platform cannot fork workers")

# What the zygote's own watch is for where the kernel has no lock-down; with one, hardly anything
# of what stands below would get as far.
BARE = ("landlock", "seccomp", "namespaces", "uid")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, lifeline: Lifeline) -> Iterator[ForkedBench]:
    """A zygote whose workers are watched and limited, but may call the kernel as they like."""
    made = ForkedBench(
        folder_for(tmp_path_factory), lifeline.reader, lifeline.abandoned, without=BARE
    )
    yield made
    made.close()


def value_of(seen: Observation) -> object:
    assert isinstance(seen, Returned), seen
    return seen.value


def gone(pids: list[int]) -> bool:
    """Whether all of them have ended within a generous time."""
    return not psutil.wait_procs([psutil.Process(p) for p in pids if psutil.pid_exists(p)], 20)[1]


# --- processes -----------------------------------------------------------------------------

DAEMON = """
import os, time
def start():
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            os.write(writer, str(os.getpid()).encode())
            for each in range(3): os.close(each) if each else None
            time.sleep(600)
        os._exit(0)
    os.wait()
    return int(os.read(reader, 20))
def multiply(times):
    for _ in range(times):
        if os.fork() == 0: time.sleep(600)
    time.sleep(600)
def double(times):
    for _ in range(times): os.fork()
    time.sleep(600)
def fork_and_return():
    if os.fork() == 0: time.sleep(600)
    return os.getpid()
def right(): return 7
"""


def test_a_double_forked_daemon_dies_with_its_submission(
    bench: ForkedBench, open_session: OpenSession
) -> None:
    opened = open_session(DAEMON)
    daemon = value_of(opened.call("start"))
    assert isinstance(daemon, int)
    assert daemon in descendants(bench.process.pid)

    opened.close()

    assert not psutil.pid_exists(daemon)
    assert descendants(bench.process.pid) == []


@pytest.mark.parametrize("name", ["multiply", "double"])
def test_more_processes_than_allowed_end_the_worker(
    bench: ForkedBench, open_session: OpenSession, name: str
) -> None:
    opened = open_session(DAEMON, processes=8, call_s=5.0, memory_mib=4096)

    seen = opened.call(name, [40 if name == "multiply" else 6])

    assert isinstance(seen, Died)
    assert (seen.cause, seen.detail) == ("signal", "processes")
    assert descendants(bench.process.pid) == []
    assert value_of(opened.call("right")) == 7


TWINS = """
import os, time
asked, go = os.pipe()
def twins():
    if os.fork() == 0:
        return 1
    os.read(asked, 1)
    return 2
def right():
    os.write(go, b"!")
    time.sleep(600)
"""


def test_a_child_that_answers_in_the_workers_place_is_only_a_second_answer(
    bench: ForkedBench, open_session: OpenSession
) -> None:
    opened = open_session(TWINS, call_s=2.0)
    # Only the child can answer: the worker itself waits until the child is asked something else.
    assert value_of(opened.call("twins")) == 1

    seen = opened.call("right")

    assert isinstance(seen, Died)
    assert (seen.cause, seen.detail) == ("garbled", "an answer to another call")
    opened.close()
    assert descendants(bench.process.pid) == []


def test_no_worker_is_left_after_a_session(bench: ForkedBench, open_session: OpenSession) -> None:
    opened = open_session(DAEMON)
    pid = value_of(opened.call("fork_and_return"))

    opened.close()

    assert isinstance(pid, int)
    assert not psutil.pid_exists(pid)
    assert descendants(bench.process.pid) == []


# --- memory and files -------------------------------------------------------------------------


def test_the_scratch_folder_is_emptied_between_submissions(
    bench: ForkedBench, open_session: OpenSession
) -> None:
    opened = open_session(
        """
        import os
        from pathlib import Path
        def leave():
            Path("deep/er").mkdir(parents=True)
            Path("deep/er/file").write_text("mine")
            os.chmod("deep/er", 0)
            return os.getcwd()
        def found(): return sorted(os.listdir("."))
        """
    )
    home = Path(str(value_of(opened.call("leave"))))
    opened.close()
    assert not home.exists()
    assert list(home.parent.iterdir()) == []

    second = open_session("import os\ndef found(): return sorted(os.listdir('.'))")

    assert value_of(second.call("found")) == ["submission.py"]


def test_the_zygote_never_holds_what_a_submission_was(
    bench: ForkedBench, open_session: OpenSession
) -> None:
    marker = "quokka" * 4
    opened = open_session(f"def echo(x):\n    # {marker}\n    print(x)\n    return x + 'x'")
    opened.call("echo", ["wombat" * 4])
    opened.close()

    memory = _memory_of(bench.process.pid)

    assert b"view_as_complex" in memory
    assert marker.encode() not in memory
    assert b"wombat" * 4 not in memory


def _memory_of(pid: int) -> bytes:
    """The writable memory of another process."""
    found = bytearray()
    maps = Path(f"/proc/{pid}/maps").read_text()
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            for start, end in re.findall(r"^(\w+)-(\w+) rw", maps, re.MULTILINE):
                try:
                    memory.seek(int(start, 16))
                    found += memory.read(int(end, 16) - int(start, 16))
                except (OSError, ValueError):
                    continue
    except PermissionError:
        pytest.skip("this machine lets no process read another's memory")
    return bytes(found)


def test_peak_memory_is_that_of_the_submission(open_session: OpenSession) -> None:
    opened = open_session(
        "import torch\ndef fill():\n    kept = torch.ones(16 << 20)\n    return float(kept[0])",
        memory_mib=512,
        call_s=5.0,
    )
    opened.call("fill")
    opened.close()

    assert opened.usage.peak_memory_mib >= 64


def test_a_large_file_ends_in_an_error(open_session: OpenSession) -> None:
    opened = open_session(
        """
        def fill():
            with open("large", "wb") as file:
                for _ in range(64): file.write(bytes(1 << 20))
        """,
        scratch_mib=2,
        call_s=5.0,
    )

    assert opened.call("fill").__class__.__name__ == "Raised"


# --- when the judge goes -----------------------------------------------------------------------

# A judge's side in a process of its own: a bench, a session, a call that never ends.
JUDGE = """
import os, sys
from pathlib import Path
from conftest import a_session
from grader.sandbox.forked import ForkedBench

folder = Path(sys.argv[1])
def abandoned(): os._exit(4)
bench = ForkedBench(
    folder, 0, abandoned, without=("landlock", "seccomp", "namespaces", "uid")
)
session = a_session(bench, '''
import os, time
def hang():
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        time.sleep(600)
    print("x", flush=True)
    time.sleep(600)
''', call_s=100.0)
session.load()
print(bench.process.pid, flush=True)
session.call("hang")
"""


def _hung_judge(folder: Path) -> "tuple[subprocess.Popen[bytes], list[int]]":
    """A judge in a call that hangs, with the processes below it: zygote, worker, daemon."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(JUDGE), str(folder)],
        cwd=Path(__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    zygote = int(process.stdout.readline())
    while len(family := [zygote, *descendants(zygote)]) < 3:
        if process.poll() is not None:
            raise AssertionError(process.returncode)
    return process, family


def _kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()


def _hang_up(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    process.stdin.close()


def _interrupt(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "end", [_kill, _hang_up, _interrupt], ids=["killed", "abandoned", "interrupted"]
)
def test_when_the_judge_is_gone_every_process_below_it_ends(
    tmp_path: Path, end: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    process, family = _hung_judge(tmp_path)

    end(process)
    process.wait(20)

    assert gone(family)
    assert list(tmp_path.iterdir()) == []
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        stream.close()


def test_a_zygote_that_was_stopped_is_killed_by_its_bench(
    tmp_path: Path, lifeline: Lifeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.sandbox.forked.CLOSE_S", 0.2)
    bench = ForkedBench(tmp_path, lifeline.reader, lifeline.abandoned)
    os.kill(bench.process.pid, signal.SIGSTOP)

    bench.close()

    assert bench.process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    "filling",
    [
        "open(f'{k}', 'wb').write(os.urandom(1 << 20))",
        "open(f'{k}', 'wb').close()",
        "os.mkdir('d'); os.chdir('d')",
    ],
    ids=["bytes", "names", "levels"],
)
def test_a_full_scratch_ends_the_worker_where_it_has_no_size_of_its_own(
    bench: ForkedBench, open_session: OpenSession, filling: str
) -> None:
    opened = open_session(
        f"import os\ndef fill():\n    for k in range(10**6): {filling}", scratch_mib=2, call_s=20.0
    )

    seen = opened.call("fill")

    assert seen == Died(cause="signal", detail="scratch")
    second = open_session("import os\ndef left(): return os.listdir('.')")
    assert value_of(second.call("left")) == ["submission.py"]
