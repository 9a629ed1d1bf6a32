"""What each layer of the lock-down is for: without it an attack succeeds, with all it fails."""

import codecs
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("these layers are Linux's", allow_module_level=True)

from locked import enter_a_container, forget_landlock, layers, outcome, refuse

from grader.sandbox.linux import kernel, landlock, lockdown, seccomp, syscalls

pytestmark = pytest.mark.skipif(
    not (landlock.version() and seccomp.available()), reason="the kernel lacks Landlock or seccomp"
)

ROOT = os.geteuid() == 0
NOBODY = 65534
# Whoever grades: whoever runs the tests and, where that is root, an ordinary user as well.
GRADERS = (None, NOBODY) if ROOT else (None,)
X86 = platform.machine() == "x86_64"
# <asm/unistd_64.h> and <asm-generic/unistd.h>, in this order.
COLUMN = 0 if X86 else 1
PTRACE, SHMGET = (101, 117)[COLUMN], (29, 194)[COLUMN]
PROCESS_VM_READV, MEMFD_CREATE = (310, 270)[COLUMN], (319, 279)[COLUMN]
IO_URING_SETUP, PIDFD_OPEN, PIDFD_GETFD, CLONE3, OPENAT2 = 425, 434, 438, 435, 437
SCHED_SETAFFINITY = (203, 122)[COLUMN]
OLD = 1_000_000_000
MESSAGE = b"the parent's own"
HELD = ctypes.create_string_buffer(MESSAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Files of somebody else that every user may read and change, as far as modes go."""

    folder: Path

    @property
    def suite(self) -> Path:
        return self.folder / "test_hidden.py"


@pytest.fixture
def outside() -> Iterator[Outside]:
    folder = Path(tempfile.mkdtemp(prefix="course-"))
    made = Outside(folder=folder)
    folder.chmod(0o777)
    made.suite.write_text("expected = 42\n")
    made.suite.chmod(0o666)
    os.utime(made.suite, (OLD, OLD))
    yield made
    shutil.rmtree(folder)


# --- attacks -----------------------------------------------------------------------------------


def read_a_suite(there: Outside) -> object:
    return there.suite.read_text()


def list_a_folder(there: Outside) -> object:
    return [each.name for each in there.folder.iterdir()]


def read_who_has_an_account(_: Outside) -> object:
    return len(Path("/etc/passwd").read_text())


def write_a_suite(there: Outside) -> object:
    return there.suite.write_text("expected = 0\n")


def make_a_file_beside_it(there: Outside) -> object:
    return (there.folder / "conftest.py").write_text("")


def delete_a_suite(there: Outside) -> object:
    return there.suite.unlink()


def change_a_mode(there: Outside) -> object:
    there.suite.chmod(0o777)
    return _changed(there, lambda seen: seen.st_mode & 0o777 == 0o777)


def change_a_mode_by_descriptor(there: Outside) -> object:
    # Any descriptor will do: a folder that may be read, or a file that may only be named.
    opened = os.open(there.suite, os.O_PATH)
    Path(f"/proc/self/fd/{opened}").chmod(0o777)
    return _changed(there, lambda seen: seen.st_mode & 0o777 == 0o777)


def change_times(there: Outside) -> object:
    os.utime(there.suite, (1, 1))
    return _changed(there, lambda seen: seen.st_mtime == 1)


def change_times_to_now(there: Outside) -> object:
    os.utime(there.suite)
    return _changed(there, lambda seen: seen.st_mtime > OLD)


def _changed(there: Outside, as_wanted: Callable[[os.stat_result], bool]) -> str:
    """What a call that was answered with success has done: the filter may only have said so."""
    if not as_wanted(there.suite.stat()):
        raise PermissionError("it is as it was")
    return "changed"


def take_over_a_file(there: Outside) -> object:
    os.chown(there.suite, os.getuid() + 1, -1)
    return _changed(there, lambda seen: seen.st_uid == os.getuid() + 1)


def put_an_attribute_on_a_file(there: Outside) -> object:
    os.setxattr(there.suite, "user.seen", b"1")
    return os.getxattr(there.suite, "user.seen")


def link_to_a_suite(there: Outside) -> object:
    os.link(there.suite, "mine")
    return Path("mine").stat().st_nlink


def truncate_by_name(there: Outside) -> object:
    return os.truncate(there.suite, 0)


def truncate_while_opening(there: Outside) -> object:
    return os.close(os.open(there.suite, os.O_RDONLY | os.O_TRUNC))


def internet_socket(_: Outside) -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()


def datagram_socket(_: Outside) -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()


def unix_socket(_: Outside) -> object:
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close()


def netlink_socket(_: Outside) -> object:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()


def pair_of_datagram_sockets(_: Outside) -> object:
    return [each.close() for each in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)]


def fork(_: Outside) -> object:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def fork_by_number(_: Outside) -> object:
    # clone3 with nothing but a signal for the parent; its structure has 64 bytes.
    asked = (ctypes.c_uint64 * 8)(0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = kernel.call(CLONE3, ctypes.addressof(asked), ctypes.sizeof(asked))
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def exec_a_shell(_: Outside) -> object:
    return os.execv("/bin/sh", ["sh", "-c", "exit 7"])


def signal_the_parent(_: Outside) -> object:
    return os.kill(os.getppid(), signal.SIGCONT)


def let_a_pipe_signal_the_parent(_: Outside) -> object:
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, os.getppid())
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    return os.write(writer, b"x")


def slow_the_parent_down(_: Outside) -> object:
    return resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)


def move_the_parent(_: Outside) -> object:
    mask = ctypes.c_uint64(1)
    return kernel.call(SCHED_SETAFFINITY, os.getppid(), 8, ctypes.addressof(mask))


def read_the_parents_memory_as_a_file(_: Outside) -> object:
    with Path(f"/proc/{os.getppid()}/mem").open("rb") as memory:
        memory.seek(ctypes.addressof(HELD))
        return memory.read(len(MESSAGE))


def read_the_parents_memory_by_a_call(_: Outside) -> object:
    mine = ctypes.create_string_buffer(len(MESSAGE))
    here = (ctypes.c_uint64 * 2)(ctypes.addressof(mine), len(MESSAGE))
    there = (ctypes.c_uint64 * 2)(ctypes.addressof(HELD), len(MESSAGE))
    spans = (ctypes.addressof(here), 1, ctypes.addressof(there), 1, 0)
    kernel.call(PROCESS_VM_READV, os.getppid(), *spans)
    return mine.value


def trace_the_parent(_: Outside) -> object:
    # <linux/ptrace.h>: PTRACE_SEIZE, which does not stop it.
    return kernel.call(PTRACE, 0x4206, os.getppid(), 0, 0)


def take_a_descriptor_of_the_parent(_: Outside) -> object:
    return kernel.call(PIDFD_GETFD, kernel.call(PIDFD_OPEN, os.getppid(), 0), 1, 0)


def read_the_parents_environment(_: Outside) -> object:
    return len(Path(f"/proc/{os.getppid()}/environ").read_bytes())


def hold_memory_that_no_limit_counts(_: Outside) -> object:
    name = ctypes.create_string_buffer(b"hidden")
    held = kernel.call(MEMFD_CREATE, ctypes.addressof(name), 0)
    return os.ftruncate(held, 1 << 20)


def leave_memory_behind(_: Outside) -> object:
    # <linux/ipc.h>: IPC_PRIVATE, then IPC_CREAT | 0600; removed again by IPC_RMID in `shmctl`.
    segment = kernel.call(SHMGET, 0, 4096, 0o1600)
    return kernel.call((31, 195)[COLUMN], segment, 0, 0)


def outlive_the_parent(_: Outside) -> object:
    return kernel.prctl(1, 0)


def become_root_of_a_world(_: Outside) -> object:
    return kernel.call(syscalls.numbers(syscalls.KNOWN)["unshare"], 0x10000000)


def calls_in_bulk(_: Outside) -> object:
    parameters = ctypes.create_string_buffer(120)
    return kernel.call(IO_URING_SETUP, 1, ctypes.addressof(parameters)) > 0


def call_in_32_bits(_: Outside) -> object:
    # mov eax, 20 (getpid there); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    answer = int(ctypes.CFUNCTYPE(ctypes.c_int)(address)())
    if answer < 0:
        raise OSError(-answer, "refused")
    return answer == os.getpid()


# <asm/unistd.h>: __X32_SYSCALL_BIT. The same kernel functions, by numbers that a list of the
# 64-bit ones does not know.
X32 = 0x40000000
X32_CALLS = {"getpid": 39, "socket": 41, "openat": 257, "clone": 56}


def call_in_x32(number: int) -> object:
    """The call with arguments that nobody carries out: what refuses it looks at the number."""
    return kernel.call(X32 | number, -1, -1, -1)


# --- what each needs to be gone ------------------------------------------------------------------

Layers = tuple[str, ...]
PEER: Layers = ("landlock", "seccomp", "capabilities", "undumpable", "uid", "namespaces")
WRITE: Layers = ("landlock", "namespaces")
OWNERS: Layers = ("seccomp", "namespaces", "capabilities", "uid")

ATTACKS: dict[Callable[[Outside], object], Layers] = {
    read_a_suite: ("landlock",),
    list_a_folder: ("landlock",),
    read_who_has_an_account: ("landlock",),
    write_a_suite: WRITE,
    make_a_file_beside_it: WRITE,
    delete_a_suite: WRITE,
    change_a_mode: OWNERS,
    change_a_mode_by_descriptor: OWNERS,
    change_times: OWNERS,
    change_times_to_now: OWNERS,
    link_to_a_suite: (*OWNERS, "landlock"),
    truncate_by_name: ("landlock", "seccomp", "namespaces"),
    truncate_while_opening: ("landlock", "seccomp", "namespaces"),
    internet_socket: ("seccomp",),
    datagram_socket: ("seccomp",),
    unix_socket: ("seccomp",),
    netlink_socket: ("seccomp",),
    pair_of_datagram_sockets: ("seccomp",),
    fork: ("seccomp",),
    fork_by_number: ("seccomp",),
    exec_a_shell: ("landlock", "seccomp"),
    signal_the_parent: ("landlock", "seccomp", "uid"),
    let_a_pipe_signal_the_parent: ("seccomp",),
    slow_the_parent_down: ("seccomp", "uid"),
    move_the_parent: ("seccomp", "capabilities", "uid"),
    read_the_parents_memory_as_a_file: PEER,
    read_the_parents_memory_by_a_call: PEER,
    trace_the_parent: PEER,
    take_a_descriptor_of_the_parent: PEER,
    read_the_parents_environment: PEER,
    hold_memory_that_no_limit_counts: ("seccomp",),
    leave_memory_behind: ("seccomp",),
    outlive_the_parent: ("seccomp",),
    become_root_of_a_world: ("seccomp",),
    calls_in_bulk: ("seccomp",),
}
if X86:
    ATTACKS[call_in_32_bits] = ("seccomp",)
ON_FILES = [each for each, needed in ATTACKS.items() if needed[:4] == OWNERS]
# What a kernel may have been built or configured without.
OPTIONAL = {calls_in_bulk, call_in_32_bits, become_root_of_a_world}


def named(attack: Callable[[Outside], object]) -> str:
    return attack.__name__


def about(path: Path) -> tuple[int, ...]:
    seen = path.stat()
    return seen.st_mode, seen.st_uid, seen.st_gid, seen.st_nlink, seen.st_size, seen.st_mtime_ns


@pytest.mark.parametrize("uid", GRADERS)
@pytest.mark.parametrize("attack", ATTACKS, ids=named)
def test_with_all_layers_the_attack_fails(
    outside: Outside, attack: Callable[[Outside], object], uid: int | None
) -> None:
    before = about(outside.suite)

    told = outcome(lambda: attack(outside), uid=uid)

    assert told.startswith("refused: "), told
    assert about(outside.suite) == before
    assert outside.suite.read_text() == "expected = 42\n"
    assert [each.name for each in outside.folder.iterdir()] == ["test_hidden.py"]


@pytest.mark.parametrize("uid", GRADERS)
@pytest.mark.parametrize("attack", ATTACKS, ids=named)
def test_without_its_layers_the_attack_succeeds(
    outside: Outside, attack: Callable[[Outside], object], uid: int | None
) -> None:
    if uid is not None and ATTACKS[attack][:4] == OWNERS:
        os.chown(outside.suite, uid, uid)

    told = outcome(lambda: attack(outside), uid=uid, without=ATTACKS[attack])

    if attack in OPTIONAL and told.startswith("refused: "):
        pytest.skip("this kernel does not offer it to anybody")
    assert told.startswith("done: ") or told == f"died: {7 << 8}", told


@pytest.mark.skipif(not X86, reason="x32 is a part of x86-64")
@pytest.mark.parametrize("uid", GRADERS)
@pytest.mark.parametrize("name", X32_CALLS)
def test_no_call_of_the_x32_kind_passes_the_filter(name: str, uid: int | None) -> None:
    told = outcome(lambda: call_in_x32(X32_CALLS[name]), uid=uid)

    # EPERM is the filter's answer. A kernel that never learnt x32 would say ENOSYS.
    assert told.startswith("refused: PermissionError: "), told


@pytest.mark.skipif(not X86, reason="x32 is a part of x86-64")
@pytest.mark.parametrize("uid", GRADERS)
def test_without_the_filter_the_kernel_alone_answers_calls_of_the_x32_kind(
    uid: int | None,
) -> None:
    told = outcome(lambda: call_in_x32(X32_CALLS["getpid"]), uid=uid, without=("seccomp",))

    # Most kernels are built without x32, or started with it switched off; none says EPERM.
    not_offered = f"refused: OSError: [Errno {errno.ENOSYS}] "
    assert told.startswith(("done: ", not_offered)), told


def test_every_layer_is_needed_by_some_attack() -> None:
    switched_off = {layer for layers in ATTACKS.values() for layer in layers}

    assert switched_off == {*PEER}


@pytest.mark.parametrize("abi", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "attack",
    [
        truncate_by_name,
        truncate_while_opening,
        write_a_suite,
        delete_a_suite,
        internet_socket,
        signal_the_parent,
        let_a_pipe_signal_the_parent,
        read_the_parents_memory_by_a_call,
    ],
    ids=named,
)
def test_what_an_older_landlock_does_not_cover_fails_all_the_same(
    outside: Outside, attack: Callable[[Outside], object], abi: int
) -> None:
    told = outcome(lambda: attack(outside), without=("namespaces", "uid"), uid=GRADERS[-1], abi=abi)

    assert told.startswith("refused: "), told


# --- other kernels, containers -------------------------------------------------------------------


@pytest.mark.parametrize("uid", GRADERS)
def test_a_kernel_with_both_gives_the_full_level(uid: int | None) -> None:
    assert lockdown.level(layers(uid)) == "full"


@pytest.mark.parametrize("uid", GRADERS)
def test_without_landlock_the_level_is_reduced(uid: int | None) -> None:
    found = layers(uid, forget_landlock)

    assert "landlock" not in found
    assert "seccomp" in found
    assert lockdown.level(found) == "reduced"


@pytest.mark.parametrize("uid", GRADERS)
def test_a_container_without_namespaces_is_still_full(uid: int | None) -> None:
    found = layers(uid, enter_a_container)

    assert not [each for each in found if each.endswith("_namespace")]
    assert lockdown.level(found) == "full"


@pytest.mark.parametrize("uid", GRADERS)
def test_a_container_refuses_the_attacks_as_well(outside: Outside, uid: int | None) -> None:
    if uid is not None:
        os.chown(outside.suite, uid, uid)
    before = about(outside.suite)

    told = {
        attack.__name__: outcome(
            lambda attack=attack: attack(outside), uid=uid, first=enter_a_container
        )
        for attack in (read_a_suite, write_a_suite, *ON_FILES, fork, unix_socket)
    }

    assert [name for name, each in told.items() if not each.startswith("refused: ")] == []
    assert about(outside.suite) == before


@pytest.mark.parametrize("world", [None, enter_a_container], ids=["with mounts", "container"])
@pytest.mark.parametrize("uid", GRADERS)
@pytest.mark.parametrize("attack", [take_over_a_file, put_an_attribute_on_a_file], ids=named)
def test_neither_owners_nor_attributes_can_be_changed(
    outside: Outside,
    attack: Callable[[Outside], object],
    uid: int | None,
    world: Callable[[], None] | None,
) -> None:
    before = about(outside.suite)

    told = outcome(lambda: attack(outside), uid=uid, first=world)

    assert told.startswith("refused: "), told
    assert about(outside.suite) == before


# Loaded here, for a user to whom this interpreter is closed.
codecs.lookup("cp437")


def change_what_is_its_own() -> object:
    """What common libraries do with files, in passing."""
    Path("new").touch()
    Path("new").touch()
    Path("new").write_text("x")
    os.utime("new", (OLD, OLD))
    Path("new").chmod(0o755)
    os.chown("new", os.getuid(), os.getgid())
    shutil.copy2("new", "copied")
    shutil.copytree(".", "folder/copy")
    with zipfile.ZipFile("packed.zip", "w") as packed:
        packed.write("new")
    with zipfile.ZipFile("packed.zip") as packed:
        packed.extractall("unpacked")
    with tarfile.open("packed.tar", "w") as archive:
        archive.add("unpacked")
    with tarfile.open("packed.tar") as archive:
        archive.extractall("extracted", filter="data")
    shutil.unpack_archive("packed.tar", "once more", filter="data")
    return sorted(each.name for each in Path("extracted/unpacked").iterdir())


@pytest.mark.parametrize("world", [None, enter_a_container], ids=["with mounts", "container"])
@pytest.mark.parametrize("uid", GRADERS)
def test_files_of_its_own_can_be_copied_packed_and_touched(
    uid: int | None, world: Callable[[], None] | None
) -> None:
    assert outcome(change_what_is_its_own, uid=uid, first=world) == "done: ['new']"


@pytest.mark.parametrize("uid", GRADERS)
def test_where_only_scratch_is_writable_modes_and_times_are_really_changed(
    uid: int | None,
) -> None:
    if "read_only" not in layers(uid):
        pytest.skip("this machine gives no mounts of one's own")

    def change() -> object:
        Path("new").touch()
        os.utime("new", (5, 5))
        Path("new").chmod(0o640)
        seen = Path("new").stat()
        return seen.st_mtime, oct(seen.st_mode & 0o777)

    assert outcome(change, uid=uid) == "done: (5.0, '0o640')"


def test_a_layer_that_is_there_but_cannot_be_installed_ends_everything() -> None:
    restrict = syscalls.numbers(syscalls.KNOWN)["landlock_restrict_self"]

    told = outcome(os.getpid, first=lambda: refuse({restrict: errno.EIO}))

    assert told.startswith("failed: OSError: the sandbox cannot be set up: "), told


def test_without_no_new_privs_nothing_else_can_be_installed() -> None:
    told = outcome(os.getpid, without=("no_new_privs",))

    assert told.startswith("failed: OSError: the sandbox cannot be set up: "), told


GRADE = """
import sys
from pathlib import Path
import torch
from conftest import Lifeline, a_session
from grader.model import Returned
from grader.sandbox.forked import ForkedBench
import locked
getattr(locked, sys.argv[1])()
line = Lifeline()
bench = ForkedBench(Path(sys.argv[2]), line.reader, line.abandoned)
session = a_session(bench, "def double(x): return x * 2", call_s=20.0, load_s=20.0)
seen = session.call("double", [torch.ones(2)])
session.close()
bench.close()
print(bench.level, seen.value.tolist() if isinstance(seen, Returned) else seen)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("world", "level"), [("forget_landlock", "reduced"), ("enter_a_container", "full")]
)
def test_grading_works_and_says_its_level(tmp_path: Path, world: str, level: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GRADE, world, str(tmp_path)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (f"{level} [2.0, 2.0]\n", "") == (done.stdout, done.stderr)
