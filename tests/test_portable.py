"""The portable sandbox: the same sessions over spawned workers and pipes."""

import ctypes
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import torch
from conftest import Lifeline, a_session, folder_for

from grader.model import Died, Observation, Raised, Returned
from grader.sandbox import job_object, pipes, session, wire
from grader.sandbox.link import Output
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
def start_daemon(folder, environment):
    # Forked twice, in a session of its own, then another program; its number.
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writer, b"%d" % os.getpid())
            os.closerange(0, 256)
            os.chdir(folder)
            program = [sys.executable, "-c", "import time; time.sleep(600)"]
            os.execve(sys.executable, program, dict(os.environ) if environment else {})
        os._exit(0)
    os.wait()
    return int(os.read(reader, 20))
def most_tasks():
    import resource
    return resource.getrlimit(resource.RLIMIT_NPROC)[0]
def leave_a_child_behind():
    if os.fork() == 0:
        time.sleep(600)
    os._exit(3)
def many_daemons():
    for _ in range(60):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        os.wait()
    time.sleep(600)
"""
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="forks, signals and limits")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")


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


def test_of_the_package_only_the_workers_own_modules_are_loaded(living: Session) -> None:
    assert value_of(living.call("loaded")) == [
        "grader",
        "grader.sandbox",
        "grader.sandbox.loader",
        "grader.sandbox.surroundings",
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


@pytest.mark.long
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


@pytest.mark.long
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


# --- what was printed before ---------------------------------------------------------------------


@pytest.fixture
def pipe() -> Iterator[tuple[pipes.Pipe, int]]:
    reader, writer = os.pipe()
    made = pipes.Pipe(os.fdopen(reader, "rb", buffering=0), most_chunks=4)
    yield made, writer
    made.reader.join(20)
    made.stream.close()


@posix_only
def test_what_was_printed_before_an_answer_is_there_however_late_the_thread_is(
    pipe: tuple[pipes.Pipe, int],
) -> None:
    late, writer = pipe
    seen: list[bytes] = []
    with late.reading:
        # The thread cannot read now.
        os.write(writer, b"before")
    late.take(seen.append)
    os.write(writer, b"after")
    os.close(writer)

    assert seen == [b"before"]


@posix_only
def test_a_full_queue_keeps_nobody_waiting(pipe: tuple[pipes.Pipe, int]) -> None:
    full, writer = pipe
    flood = threading.Thread(target=lambda: [os.write(writer, bytes(1 << 16)) for _ in range(99)])
    flood.start()
    taken = bytearray()
    while flood.is_alive():
        full.take(taken.extend)
    full.take(taken.extend)
    os.close(writer)

    assert len(taken) == 99 << 16


@pytest.mark.parametrize(
    ("before", "settled"),
    [
        (b"", 0),
        (b"abc\n", 4),
        ("é汉😀".encode(), 3),
        ("é汉".encode() + b"\xf0\x9f\x98", 2),
        (b"a\xe6\xb1", 1),
        (b"\xff\xfe", 2),
        (b"\x80\xe6", 1),
    ],
)
@pytest.mark.parametrize("after", [b"\x80", b"\x89\x80", b"\xbf", b"z", b"\xf0", "汉".encode()])
def test_no_later_byte_changes_a_settled_character(
    before: bytes, settled: int, after: bytes
) -> None:
    output = Output(64)
    output.add(before)
    counted, head = output.settled(), output.printed().head
    output.add(after)

    assert counted == settled
    assert output.printed().head[:settled] == head[:settled]


# --- what hides ---------------------------------------------------------------------------------


@posix_only
@pytest.mark.parametrize(
    ("folder", "environment"), [("/", True), (".", False)], ids=["by environment", "by folder"]
)
def test_a_daemon_is_known_by_the_workers_folder(
    workers: PortableBench, folder: str, environment: bool
) -> None:
    opened = a_session(workers, ANY, call_s=5.0)
    daemon = psutil.Process(int(str(value_of(opened.call("start_daemon", [folder, environment])))))

    opened.close()

    assert psutil.wait_procs([daemon], timeout=5)[1] == []


@posix_only
def test_a_fork_bomb_leaves_room_for_whoever_ends_it(living: Session) -> None:
    most = int(str(value_of(living.call("most_tasks"))))

    assert 512 < most < 512 + 32 * len(psutil.pids()) + 1024


ALONE = """
import os, sys
import psutil
from pathlib import Path
from conftest import a_session
from grader.model import Died
from grader.sandbox.portable import PortableBench
from test_portable import ANY, value_of

lifeline, held = os.pipe()
bench = PortableBench(Path(sys.argv[1]), lifeline, lambda: os._exit(4), alone=True)
session = a_session(bench, ANY, call_s=1000.0, total_s=5000.0)
"""


def alone(tmp_path: Path, program: str) -> list[str]:
    """What a program prints whose process is the bench's alone."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ALONE + program), str(tmp_path)],
        cwd=Path(__file__).parent,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@linux_only
def test_a_daemon_without_any_mark_is_adopted_and_ended(tmp_path: Path) -> None:
    program = """
daemon = psutil.Process(int(str(value_of(session.call("start_daemon", ["/", False])))))
print(daemon.ppid() == os.getpid())
session.close()
print(psutil.pid_exists(daemon.pid), len(psutil.Process().children()))
bench.close()
"""

    assert alone(tmp_path, program) == ["True", "False", "0"]


@linux_only
def test_daemons_count_as_processes_of_their_worker(tmp_path: Path) -> None:
    program = """
seen = session.call("many_daemons")
print(seen.cause, seen.detail, len(psutil.Process().children()))
session.close()
bench.close()
"""

    assert alone(tmp_path, program) == ["signal", "processes", "0"]


@posix_only
def test_a_dead_worker_is_noticed_although_its_child_holds_the_channel(
    workers: PortableBench,
) -> None:
    opened = a_session(workers, ANY, call_s=1000.0, total_s=5000.0)

    seen = death_of(opened.call("leave_a_child_behind"))
    opened.close()

    assert seen == ("exit", "3")


@linux_only
def test_processes_that_were_there_before_are_no_workers(tmp_path: Path) -> None:
    program = """
import subprocess
bench.close()
mine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
bench = PortableBench(Path(sys.argv[1]) , lifeline, lambda: os._exit(4), alone=True)
session = a_session(bench, ANY)
session.load()
session.close()
bench.close()
print(mine.poll())
mine.kill()
mine.wait()
"""

    assert alone(tmp_path, program) == ["None"]


# --- the job of Windows, as far as it can be looked at elsewhere --------------------------------

sixty_four_bits = pytest.mark.skipif(sys.maxsize < 2**32, reason="the layout of 64-bit Windows")


@sixty_four_bits
def test_the_structures_of_a_job_have_the_sizes_and_places_of_64_bit_windows() -> None:
    basic, extended = job_object.BasicLimits, job_object.ExtendedLimits

    assert ctypes.sizeof(job_object.IoCounters) == 48
    assert ctypes.sizeof(basic) == 64
    assert ctypes.sizeof(extended) == 144
    assert (basic.LimitFlags.offset, basic.ActiveProcessLimit.offset) == (16, 40)
    assert (basic.Affinity.offset, basic.SchedulingClass.offset) == (48, 60)
    assert (extended.IoInfo.offset, extended.ProcessMemoryLimit.offset) == (64, 112)
    assert (extended.JobMemoryLimit.offset, extended.PeakJobMemoryUsed.offset) == (120, 136)


@sixty_four_bits
def test_a_job_is_told_its_limits_where_windows_looks_for_them() -> None:
    told = bytes(job_object.limits(processes=32, memory_bytes=5 << 30))

    assert int.from_bytes(told[16:20], "little") == 0x2000 | 0x400 | 0x200 | 0x8
    assert int.from_bytes(told[40:44], "little") == 32
    assert int.from_bytes(told[120:128], "little") == 5 << 30


def test_a_job_without_a_number_has_no_limit_of_memory() -> None:
    told = job_object.limits(processes=4)

    assert told.BasicLimitInformation.LimitFlags & 0x200 == 0
    assert told.JobMemoryLimit == 0


class Kernel32:
    """Answers as Windows does, and remembers what it was asked; the call `refused` fails."""

    def __init__(self, refused: str = "") -> None:
        self.refused = refused
        self.asked: list[tuple[object, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*arguments: object) -> int:
            self.asked.append((name, *arguments))
            opened = {"CreateJobObjectW": 0x1_0000_0040, "OpenProcess": 0x1_0000_0080}
            return 0 if name == self.refused else opened.get(name, 1)

        return call

    @property
    def names(self) -> list[object]:
        return [each[0] for each in self.asked]


def test_a_job_has_its_limits_before_a_process_is_in_it() -> None:
    kernel32 = Kernel32()

    job_object.WinJob(77, processes=32, kernel32=kernel32)

    assert kernel32.names == [
        "CreateJobObjectW",
        "SetInformationJobObject",
        "OpenProcess",
        "AssignProcessToJobObject",
        "CloseHandle",
    ]
    # PROCESS_SET_QUOTA and PROCESS_TERMINATE; then job and process by handles of 64 bits.
    assert kernel32.asked[2][1:] == (0x101, False, 77)
    assert kernel32.asked[3][1:] == (0x1_0000_0040, 0x1_0000_0080)
    assert kernel32.asked[4][1:] == (0x1_0000_0080,)


def test_a_job_is_ended_once() -> None:
    kernel32 = Kernel32()
    job = job_object.WinJob(77, processes=32, kernel32=kernel32)
    kernel32.asked.clear()

    job.end()
    job.end()

    assert kernel32.asked == [
        ("TerminateJobObject", 0x1_0000_0040, 1),
        ("CloseHandle", 0x1_0000_0040),
    ]


@pytest.mark.parametrize(
    "refused",
    ["CreateJobObjectW", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject"],
)
def test_a_job_that_windows_refuses_leaves_no_handle_open(refused: str) -> None:
    kernel32 = Kernel32(refused)

    with pytest.raises(OSError, match=r".+"):
        job_object.WinJob(77, processes=32, kernel32=kernel32)

    opened = [each for each in ("CreateJobObjectW", "OpenProcess") if each in kernel32.names]
    assert kernel32.names.count("CloseHandle") == len(opened) - (refused in opened)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has jobs")
def test_elsewhere_there_is_no_job() -> None:
    with pytest.raises(OSError, match="only Windows"):
        job_object.WinJob(os.getpid(), processes=1)


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


@pytest.mark.long
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
