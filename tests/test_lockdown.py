"""What still works behind the lock-down, and what the lock-down is made of."""

import errno
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("the lock-down is Linux's", allow_module_level=True)

from conftest import Lifeline, OpenSession, a_session

from grader.model import Died, Raised, Returned
from grader.sandbox.forked import ForkedBench
from grader.sandbox.linux import landlock, places, seccomp, syscalls

# --- calls of another kind ---------------------------------------------------------------------


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x32 is a part of x86-64")
def test_a_submission_gets_no_answer_to_calls_of_the_x32_kind(open_session: OpenSession) -> None:
    session = open_session("""
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        def ask(number):
            ctypes.set_errno(0)
            answer = libc.syscall(ctypes.c_long(number))
            return answer == os.getpid(), ctypes.get_errno()
    """)

    seen = [session.call("ask", [number]) for number in (39, 39 | 0x40000000)]

    assert [each.value for each in seen if isinstance(each, Returned)] == [
        (True, 0),
        (False, errno.EPERM),
    ]


# --- all torch work that a student may do ----------------------------------------------------

WORK = {
    "autograd": """
        x = torch.randn(4, 3, requires_grad=True)
        (x @ x.T).exp().sum().backward()
        torch.autograd.gradcheck(torch.sin, torch.randn(3, dtype=torch.float64, requires_grad=True))
        return x.grad.shape == x.shape""",
    "the first optimizer": """
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))
        for kind in (torch.optim.AdamW, torch.optim.SGD):
            stepper = kind(net.parameters(), lr=0.1)
            net(torch.ones(2, 3)).sum().backward()
            stepper.step()
        return True""",
    "attention and embeddings": """
        layer = torch.nn.TransformerEncoderLayer(8, 2, batch_first=True)
        return layer(torch.nn.Embedding(5, 8)(torch.arange(4)[None])).shape == (1, 4, 8)""",
    "einsum, complex numbers, linear algebra, Fourier": """
        a = torch.randn(3, 3, dtype=torch.float64)
        u, s, v = torch.linalg.svd(a)
        torch.linalg.eig(a), torch.fft.fft(torch.ones(8)), torch.view_as_complex(torch.ones(2, 2))
        return torch.einsum("ij,j,jk->ik", u, s, v).allclose(a)""",
    "a data loader without workers": """
        from torch.utils.data import DataLoader, TensorDataset
        loader = DataLoader(TensorDataset(torch.arange(10.0)), batch_size=3, shuffle=True)
        return sum(len(batch) for (batch,) in loader) == 10""",
    "saving and loading": """
        torch.save(torch.nn.Linear(2, 2).state_dict(), "net.pt")
        numpy.save("a.npy", numpy.ones(3))
        return bool(len(torch.load("net.pt")) + numpy.load("a.npy", mmap_mode="r").sum() == 5)""",
    "temporary files and folders": """
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w") as file:
            pathlib.Path(folder, "a").write_text("x")
            os.rename(os.path.join(folder, "a"), os.path.join(folder, "b"))
            file.write("x")
            return os.listdir(folder) == ["b"]""",
    "threads": """
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return sum(pool.map(lambda k: int(torch.full((3,), k).sum()), range(5))) == 30""",
    "as many threads as a pool makes at most": """
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            started = threading.Barrier(32, timeout=30)
            return sorted(pool.map(lambda k: started.wait() * 0 + k, range(32))) == [*range(32)]""",
    "64 threads that sleep": """
        sleeping = [threading.Thread(target=time.sleep, args=(0.2,)) for _ in range(64)]
        for each in sleeping: each.start()
        for each in sleeping: each.join()
        return threading.active_count() == 1""",
    "threads that compute with torch": """
        def learn(_):
            x = torch.ones(50, 50, requires_grad=True)
            (x @ x).sum().backward()
            return bool(torch.linalg.svd(x.detach())[1][0] > 0) and torch.get_num_threads() == 1
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            return all(pool.map(learn, range(32)))""",
    "calls nested as deep as Python allows, in a thread": """
        class Nested(torch.nn.Module):
            def forward(self, x, depth):
                return x if depth == 0 else sorted([depth], key=lambda d: self(x, d - 1).sum())
        def deep():
            sys.setrecursionlimit(1000)
            try:
                Nested()(torch.ones(1), 10_000)
            except RecursionError as error:
                seen.append(type(error).__name__)
        seen = []
        thread = threading.Thread(target=deep)
        thread.start()
        thread.join()
        return seen == ["RecursionError"]""",
    "recursion of twenty thousand calls": """
        def count(n): return 0 if n == 0 else 1 + count(n - 1)
        sys.setrecursionlimit(10**6)
        return count(20_000) == 20_000""",
    "a large stack for one thread, to recurse on": """
        threading.stack_size(64 << 20)
        thread = threading.Thread(target=time.sleep, args=(0,))
        thread.start()
        thread.join()
        return True""",
    "more threads inside torch": """
        torch.set_num_threads(2)
        return (torch.ones(400, 400) @ torch.ones(400, 400)).sum().item() == 400.0**3""",
    "modules that nothing has loaded yet": """
        import asyncio, csv, dataclasses, decimal, sqlite3, statistics, unittest, zoneinfo
        import mimetypes
        assert mimetypes.guess_type("a.png") == ("image/png", None)
        sqlite3.connect("x.db").execute("create table a (b)").connection.commit()
        return asyncio.run(asyncio.sleep(0, True))""",
    "who one is and where": """
        import getpass
        return getpass.getuser() == "student" and os.cpu_count() > 0""",
    "jit, vmap, profiles of time": """
        torch.jit.trace(lambda x: x * 2, torch.ones(2))
        sines = torch.func.vmap(torch.sin)(torch.zeros(3))
        return sines.sum().item() == 0 and time.thread_time() > 0""",
    "figures": """
        import importlib.util
        if importlib.util.find_spec("matplotlib") is None:
            return True
        import matplotlib.pyplot as plt
        plt.plot([1, 2], [3, 4])
        plt.savefig("figure.png")
        return os.path.getsize("figure.png") > 0""",
}
HEAD = (
    "import concurrent.futures, os, pathlib, sys, tempfile, threading, time\nimport numpy, torch\n"
)


@pytest.mark.parametrize("body", WORK.values(), ids=WORK)
def test_the_work_of_a_course_runs_in_there(open_session: OpenSession, body: str) -> None:
    lines = [line.removeprefix("        ") for line in body.strip("\n").splitlines()]
    source = HEAD + "def work():\n" + "\n".join("    " + line for line in lines)
    opened = open_session(source, call_s=60.0, load_s=60.0, total_s=120.0, memory_mib=1024)

    seen = opened.call("work")

    assert isinstance(seen, Returned), seen
    assert seen.value is True


@pytest.mark.parametrize(
    "without",
    [(), ("uid",), ("uid", "namespaces"), ("uid", "landlock", "seccomp", "namespaces")],
    ids=["with all layers", "as the same user", "counted by nobody", "almost bare"],
)
@pytest.mark.parametrize("stack", [2 << 20, 32_768], ids=["usual stacks", "small stacks"])
def test_a_thread_bomb_is_bounded(
    tmp_path: Path, lifeline: Lifeline, without: tuple[str, ...], stack: int
) -> None:
    bench = ForkedBench(tmp_path, lifeline.reader, lifeline.abandoned, without=without)
    opened = a_session(
        bench,
        """
        import threading, time
        def start(stack):
            threading.stack_size(stack)
            try:
                for count in range(20_000):
                    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            except RuntimeError:
                time.sleep(1)
                return count
        """,
        call_s=20.0,
        memory_mib=1024,
    )

    seen = opened.call("start", [stack])

    opened.close()
    bench.close()
    if {"uid", "user_namespace"}.isdisjoint(bench.layers):
        # Root, whom the kernel does not count, or one of whom it counts everything.
        assert isinstance(seen, Died)
        assert (seen.cause, seen.detail) == ("signal", "threads")
    else:
        assert isinstance(seen, Returned)
        assert isinstance(seen.value, int)
        assert 64 <= seen.value <= 128


def test_a_process_cannot_be_started_and_the_student_is_told(open_session: OpenSession) -> None:
    opened = open_session("import subprocess\ndef run(): return subprocess.run(['ls']).returncode")

    seen = opened.call("run")

    assert isinstance(seen, Raised)
    assert seen.type == "PermissionError"


def test_scratch_holds_no_more_than_its_limit(open_session: OpenSession) -> None:
    opened = open_session(
        """
        def fill():
            try:
                for k in range(100):
                    with open(f"{k}", "wb") as file: file.write(bytes(1 << 20))
            except OSError as error:
                return error.errno
        """,
        scratch_mib=4,
        call_s=10.0,
    )

    seen = opened.call("fill")

    if "tmpfs" not in opened.bench.layers:
        pytest.skip("without a mount namespace there is no sized scratch")
    assert isinstance(seen, Returned)
    assert seen.value == errno.ENOSPC


def test_nothing_of_one_submission_is_in_the_scratch_of_the_next(
    open_session: OpenSession,
) -> None:
    writing, looking = "open('left', 'w').close()\ndef f(): return 1", "import os\n"
    first = open_session(writing)
    first.call("f")
    first.close()

    seen = open_session(looking + "def f(): return os.listdir('.')").call("f")

    assert isinstance(seen, Returned)
    assert seen.value == ["submission.py"]


def test_the_cpu_clock_of_a_worker_is_read_by_the_number_that_the_judge_knows(
    open_session: OpenSession,
) -> None:
    opened = open_session("import os, time\ndef f():\n    while time.process_time() < 0.3: pass")
    opened.load()

    before = opened._live.link.cpu_s()  # type: ignore[union-attr]
    opened.call("f")

    assert opened._live.link.cpu_s() > before  # type: ignore[union-attr]


def test_the_layers_are_known_once_the_zygote_is_ready(
    open_session: OpenSession, bench: ForkedBench
) -> None:
    open_session("x = 1").load()

    there = {"landlock": landlock.version() > 0, "seccomp": seccomp.available()}
    assert {name: name in bench.layers for name in there} == there
    assert bench.level == ("full" if all(there.values()) else "reduced")


# --- places -----------------------------------------------------------------------------------


def test_of_a_checkout_only_the_package_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = Path(places.__file__).parents[3]
    monkeypatch.syspath_prepend(str(checkout))

    readable = places.readable()

    for secret in ("assignments", "tests", "pyproject.toml", ".git"):
        path = checkout / secret
        assert not [each for each in readable if each == path or each in path.parents]
    assert [each for each in readable if each in Path(places.__file__).parents]


def test_no_home_and_no_root_is_readable_as_a_whole() -> None:
    assert not {Path("/"), Path.home(), Path("/etc"), Path("/usr"), Path("/proc")} & {
        *places.readable()
    }


# --- tables -----------------------------------------------------------------------------------


def header_numbers(path: Path, prefix: str) -> dict[str, int]:
    found = re.findall(rf"#define __NR{prefix}_(\w+)\s+(\d+)", path.read_text())
    return {name: int(number) for name, number in found}


def test_the_numbers_of_x86_64_are_those_of_the_headers() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("the kernel's headers are not installed")
    known = header_numbers(header, "")

    for table in (syscalls.ALLOWED, syscalls.KNOWN):
        ours = syscalls.numbers(table, "x86_64")
        assert ours == {name: known[name] for name in ours}


def test_the_numbers_of_aarch64_are_those_of_the_headers() -> None:
    header = Path("/usr/include/asm-generic/unistd.h")
    if not header.exists():
        pytest.skip("the kernel's headers are not installed")
    # Calls with another name on 32 bits stand under __NR3264.
    known = header_numbers(header, "3264") | header_numbers(header, "")
    known |= {"newfstatat": known["fstatat"]}

    for table in (syscalls.ALLOWED, syscalls.KNOWN):
        ours = syscalls.numbers(table, "aarch64")
        assert ours == {name: known[name] for name in ours}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_lands_inside_it(machine: str) -> None:
    program = seccomp.allowlist(machine)
    code = list(struct.iter_unpack("=HBBI", program))

    assert len(code) <= 4096  # BPF_MAXINSNS
    for place, (kind, true, false, _) in enumerate(code):
        if kind & 0x07 == 0x05:  # BPF_JMP
            assert place + 1 + max(true, false) < len(code)
    assert code[-1] == (0x06, 0, 0, 0x00050000 | errno.EPERM)


def test_the_filter_names_the_worker_that_it_is_for() -> None:
    template = seccomp.allowlist()
    first, second = (seccomp.for_process(template, pid) for pid in (1234, 4321))

    assert len(template) == len(first)
    assert first != second
    assert struct.pack("=I", seccomp._SOME_PID) not in first


def test_a_process_with_a_second_thread_is_not_locked_down(tmp_path: Path) -> None:
    program = """
import os, sys, threading
from pathlib import Path
from grader.sandbox.linux import lockdown
threading.Thread(target=threading.Event().wait, daemon=True).start()
plan = lockdown.Plan(landlock_abi=0, filter=b"", readable=())
try:
    lockdown.enter(plan, Path("."), os.getppid())
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("there is more than one thread\n", "")


# --- who is at the other end, and where the staff's files are ----------------------------------

ASKS = """
import os, socket
channel = socket.socket(fileno=os.dup(3))
def ask(option):
    try:
        return str(channel.getsockopt(socket.SOL_SOCKET, option, 16))
    except OSError as error:
        return error.errno
"""


@pytest.mark.parametrize("option", [17, 31, 59, 77], ids=["cred", "sec", "groups", "pidfd"])
def test_a_channel_does_not_tell_who_is_at_its_other_end(
    open_session: OpenSession, option: int
) -> None:
    seen = open_session(ASKS).call("ask", [option])

    assert isinstance(seen, Returned)
    assert seen.value == errno.EPERM


def test_a_pair_of_sockets_of_ones_own_works_as_anywhere(open_session: OpenSession) -> None:
    seen = open_session("""
        import asyncio, socket
        def ask():
            one, other = socket.socketpair()
            again = socket.socket(fileno=one.detach())
            other.sendall(b"x")
            asyncio.run(asyncio.sleep(0))
            return again.type == socket.SOCK_STREAM, again.recv(1), again.getsockopt(1, 4)
    """).call("ask")

    assert isinstance(seen, Returned), seen
    assert seen.value[0] is True


TELLS_ALL = """
import glob, os, sys

def everything():
    told = [*sys.argv, *sys.orig_argv, *sys.path, *os.environ.values(), os.getcwd()]
    told += [getattr(sys.modules["__main__"], "__file__", "")]
    folders = ["/proc/self", "/proc/thread-self", f"/proc/{os.getpid()}", f"/proc/{os.getppid()}"]
    folders += glob.glob("/proc/self/task/*") + glob.glob("/proc/[0-9]*")
    for folder in folders:
        for name in ("cmdline", "environ", "comm", "mountinfo", "mounts", "cgroup", "stat", "auxv"):
            try:
                with open(f"{folder}/{name}", "rb") as file:
                    told.append(file.read(1 << 16).decode("latin-1"))
            except OSError:
                continue
        for name in ("cwd", "exe", "root"):
            try:
                told.append(os.readlink(f"{folder}/{name}"))
            except OSError:
                continue
    print("\\n".join(told))
    return len(told)
"""


def test_a_submission_finds_no_folder_of_the_staffs(open_session: OpenSession) -> None:
    checkout = Path(places.__file__).parents[3]
    opened = open_session(TELLS_ALL, call_s=20.0, output_kib=4096)

    seen = opened.call("everything")

    assert isinstance(seen, Returned)
    opened.close()
    told = opened.output.printed().head
    assert opened.output.printed().dropped_bytes == 0
    assert "torchgrade-worker" in told
    assert [line for line in told.splitlines() if str(checkout) in line] == []


def test_threads_can_be_counted_but_their_command_line_not_read(open_session: OpenSession) -> None:
    seen = open_session("""
        import os
        def look():
            found = os.listdir("/proc/self/task")
            refused = []
            for name in ("cmdline", "environ"):
                try:
                    open(f"/proc/self/task/{found[0]}/{name}").close()
                except PermissionError:
                    refused.append(name)
            return len(found), refused
    """).call("look")

    assert isinstance(seen, Returned), seen
    assert seen.value == (1, ["cmdline", "environ"])
