"""The zygote: a clean process that has imported torch once and forks the workers (Linux).

Theory of operation. The judge starts this program by exec, with an environment from nothing, in
an empty folder, with one end of a SOCK_SEQPACKET pair. It imports torch on one thread, touches
what a first use would otherwise initialise in every child, freezes the heap so that pages stay
shared, says `ready`, and then obeys one request at a time:

    judge -> zygote   {"do": "spawn", …limits} + two descriptors (channel, output)
                      {"do": "end", "cause": …}
    zygote -> judge   {"now": "ready", "level": …, "layers": […]} · {"now": "failed", "why": …}
                      {"now": "started", "pid": …}
                      {"now": "dead", "cause": …, "detail": …, "cpu_s": …, "peak_mib": …}

There is at most one worker at a time. Source, calls, results and output never pass through here:
the next student's worker inherits this memory. The zygote is the worker's parent and the
subreaper of all its descendants, so it alone knows how the worker died; it watches memory and
the number of processes, kills, reaps, and empties the scratch folder. When the judge is gone
(end of file on the socket) it kills what is left and ends.

Nothing secret enters this process: no suite, seed, rubric, path or name.
"""

import array
import contextlib
import ctypes
import gc
import importlib
import json
import math
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch

from grader.sandbox import command_line, plots, tasks, worker
from grader.sandbox.linux import lockdown, privileges
from grader.sandbox.scratch import overfull, remove

MESSAGE_LIMIT = 4096
WATCH_S = 0.05
GRACE_S = 0.25
# Of each thread that a submission starts. The default is 8 MiB, of which the limit of the address
# space has room for a few dozens; two are enough for a thousand nested calls from Python to C and
# back. The main thread keeps its own.
THREAD_STACK = 2 << 20
# What the first use of a package imports.
ALSO_PRELOADED = {
    "matplotlib": ("matplotlib.pyplot", "matplotlib.backends.backend_agg"),
    "IPython": ("IPython.display", "IPython.core.interactiveshell"),
    "tqdm": ("tqdm.auto",),
}
# linux/prctl.h
PR_SET_CHILD_SUBREAPER = 36
# Descriptor numbers in the worker.
CHANNEL, OUTPUT = 3, 1
# In force in every worker, before anything that the kernel adds.
LAYERS = ("process", "rlimits", "watcher")

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What is the same for all workers.

    Args:
        home: their folder, which one after the other finds empty.
        own_modules: names of the zygote's own, which they must not find.
        path: where they find modules.
    """

    home: Path
    plan: lockdown.Plan
    own_modules: tuple[str, ...]
    path: tuple[str, ...]


def main(
    control_fd: int,
    scratch: str,
    without: Collection[str] = (),
    preload: Collection[str] = (),
) -> None:
    """Serve the judge on `control_fd` until it closes.

    Args:
        without: layers of the lock-down to leave out; only tests do.
        preload: packages to import once for all workers, as the course names them.
    """
    # Before anything is forked, which would show it, too.
    command_line.forget("torchgrade-worker")
    control = socket.socket(fileno=control_fd)
    torch.set_num_threads(1)
    # Inherited by the workers, whose limit of the address space is the only bound on threads of
    # root's, and must leave room for as many as people use.
    threading.stack_size(THREAD_STACK)
    _warm()
    plots.draw_to_nowhere()
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    home = Path(scratch) / "worker"
    if problem := _preload(preload, home):
        _send(control, {"now": "failed", "why": problem})
        os._exit(1)
    plan = _plan(control, home, without)
    # Pages stay shared as long as nobody looks for garbage in them. None is collected before: the
    # holes that it left would be filled in the workers, page by page.
    gc.freeze()
    gc.enable()
    layers = (*LAYERS, *plan.layers)
    terms = _Terms(
        home=home,
        plan=plan,
        own_modules=_own_modules(),
        path=tuple(command_line.path_within(plan.readable)),
    )
    _send(control, {"now": "ready", "level": lockdown.level(layers), "layers": layers})
    parent = os.getpid()
    try:
        while (request := _receive(control)) is not None:
            message, descriptors = request
            if message["do"] == "spawn":
                _attend(control, message, descriptors, terms)
    finally:
        # Also reached when a forked child unwinds by mistake: only the zygote itself cleans up.
        if os.getpid() == parent:
            _kill_all(0)
            # Taking torch down in an orderly way would keep the judge waiting.
            os._exit(0)


def _plan(control: socket.socket, home: Path, without: Collection[str]) -> lockdown.Plan:
    """The lock-down of all workers; a layer that cannot be installed ends the zygote."""
    try:
        home.mkdir(mode=0o700)
        plan = lockdown.prepare(home, without)
        # Workers may belong to the same user: the next student's memory begins as a copy of this.
        privileges.hide_memory()
    except OSError as error:
        _send(control, {"now": "failed", "why": str(error)})
        os._exit(1)
    return plan


def _warm() -> None:
    """First uses that every submission would pay for.

    Not among them: an optimizer, whose first use imports `torch._dynamo` (1.4 s), which is longer
    than the whole check of one file takes.
    """
    weight = torch.ones(4, 4, requires_grad=True)
    (torch.einsum("ij,jk->ik", weight, weight).sin().sum() + weight.norm()).backward()
    torch.view_as_complex(torch.zeros(1, 2)).abs()
    torch.nn.Embedding(2, 2)(torch.zeros(1, dtype=torch.int64))
    numpy.random.seed(0)


def _preload(names: Collection[str], home: Path) -> str:
    """Import what the course names, so that each worker finds it done; what stands against it.

    One that is absent, or fails, stays as it is: whoever imports it learns why. `home` is where
    workers will be, so that libraries which note their folders (matplotlib) note the right ones.
    """
    if not names:
        return ""
    home.mkdir(mode=0o700)
    _live_in(home)
    for name in (part for each in names for part in (each, *ALSO_PRELOADED.get(each, ()))):
        # A package may raise whatever it likes, and exit, too.
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
        if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208 - names only
            return f"the package {name} starts threads when it is imported: it cannot be preloaded"
    # What they have left of files would be the first submission's.
    remove(home)
    return ""


def _attend(
    control: socket.socket,
    limits: dict[str, object],
    descriptors: list[int],
    terms: _Terms,
) -> None:
    """Fork one worker, watch over it until it is dead, and say how it died."""
    home, plan = terms.home, terms.plan
    lockdown.open_scratch(plan, home, int(_number(limits, "scratch_mib")))
    idle_kib, _ = _seen(os.getpid())
    zygote = os.getpid()
    pid = tasks.started(os.fork)
    if pid == 0:
        _become_worker(descriptors, limits, terms, lambda: lockdown.enter(plan, home, zygote))
    for descriptor in descriptors:
        os.close(descriptor)
    _send(control, {"now": "started", "pid": pid})
    try:
        death = _watch(control, pid, _Ceiling.of(limits, idle_kib, plan, home))
    finally:
        _kill_all(pid)
        lockdown.close_scratch(plan, home)
    _send(control, death)


def _become_worker(
    descriptors: list[int],
    limits: dict[str, object],
    terms: _Terms,
    lock_down: Callable[[], None],
) -> None:
    """In the child: leave everything of the zygote behind, then serve. Never returns."""
    code = 70
    try:
        os.setsid()
        channel, output = (os.dup2(fd, 100 + k) for k, fd in enumerate(descriptors))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(channel, CHANNEL)
        os.closerange(CHANNEL + 1, 1 << 16)
        _move_into(terms.home)
        _set_limits(limits)
        sys.path[:] = terms.path
        _forget(terms.own_modules)
        # Everything that it needs is open, and nothing of the submission has been read yet.
        lock_down()
        worker.serve(CHANNEL, CHANNEL)
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it was, the parent must not go on twice
        traceback.print_exc()
    finally:
        # No interpreter shutdown: atexit hooks and destructors are student code by now.
        os._exit(code)


def _live_in(home: Path) -> None:
    """Let whatever wants a home or a place for files have `home`."""
    for name in ("HOME", "TMPDIR", "TEMP", "TMP"):
        os.environ[name] = str(home)
    os.environ["MPLCONFIGDIR"] = str(home / ".config" / "matplotlib")


def _move_into(home: Path) -> None:
    os.chdir(home)
    _live_in(home)
    # The worker's user may have no name, which `getpass` and what imports it would stumble over.
    os.environ["USERNAME"] = "student"
    # Whatever asked for it while torch was imported was told the zygote's folder.
    tempfile.tempdir = None


def _set_limits(limits: dict[str, object]) -> None:
    memory = _virtual_bytes() + int(_number(limits, "memory_mib")) * 2**20
    scratch = int(_number(limits, "scratch_mib")) * 2**20
    seconds = math.ceil(_number(limits, "total_s")) + 1
    for which, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, scratch, scratch),
        (resource.RLIMIT_NOFILE, 256, 256),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, ceiling = resource.getrlimit(which)
        bound = hard if ceiling == resource.RLIM_INFINITY else min(hard, ceiling)
        resource.setrlimit(which, (min(soft, bound), bound))


def _own_modules() -> tuple[str, ...]:
    """The zygote's own modules, by name.

    Asked for once, before anything is forked: in a worker, to look at the names of all modules
    means to write to each (it counts who looks), which copies some 700 pages.
    """
    kernel = [name for name in sys.modules if name.startswith("grader.sandbox.linux")]
    others = ("command_line", "plots", "scratch", "tasks", "zygote")
    return (*kernel, *(f"grader.sandbox.{name}" for name in others), "__main__")


def _forget(own: Collection[str]) -> None:
    """Take the zygote's own modules out of the child's reach, and give it an empty `__main__`."""
    for name in own:
        sys.modules.pop(name, None)
    sys.modules["__main__"] = type(sys)("__main__")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ceiling:
    """What the watcher allows: memory above that of an idle worker, processes, and scratch.

    Args:
        threads: of all processes together, whoever's they are.
        scratch: the folder whose size must be watched; None when it has a size of its own.
    """

    idle_kib: int
    extra_kib: int
    processes: int
    threads: int
    scratch: Path | None
    scratch_bytes: int

    @staticmethod
    def of(limits: dict[str, object], idle_kib: int, plan: lockdown.Plan, home: Path) -> "_Ceiling":
        return _Ceiling(
            idle_kib=idle_kib,
            extra_kib=int(_number(limits, "memory_mib")) * 1024,
            processes=int(_number(limits, "processes")),
            threads=plan.threads + tasks.SLACK,
            scratch=None if plan.tmpfs else home,
            scratch_bytes=int(_number(limits, "scratch_mib")) << 20,
        )


def _watch(control: socket.socket, pid: int, ceiling: _Ceiling) -> dict[str, object]:
    """How the worker died: by itself, by a limit that is watched here, or on the judge's word."""
    exited = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(control, select.POLLIN)
    poller.register(exited, select.POLLIN)
    told: tuple[str, str] | None = None
    try:
        while told is None:
            ready = dict(poller.poll(WATCH_S * 1000))
            if exited in ready:
                break
            told = _order(control) if control.fileno() in ready else _excess(ceiling)
        if told is not None:
            if told[0] == "garbled":
                # A dying process closes its channel a little before it can be reaped: what looks
                # like a closed channel to the judge may be a death of its own, even by SIGKILL.
                told = None if _ends_within(exited, GRACE_S) else told
            os.kill(pid, signal.SIGKILL)
        _, status, used = os.wait4(pid, 0)
    finally:
        os.close(exited)
    # A process that was already ending keeps its own exit status when it is killed.
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    cause, detail = told if told is not None and killed else _own_death(status)
    return {
        "now": "dead",
        "cause": cause,
        "detail": detail,
        "cpu_s": round(used.ru_utime + used.ru_stime, 3),
        "peak_mib": used.ru_maxrss // 1024,
    }


def _ends_within(exited: int, wait_s: float) -> bool:
    poller = select.poll()
    poller.register(exited, select.POLLIN)
    return bool(poller.poll(wait_s * 1000))


def _order(control: socket.socket) -> tuple[str, str]:
    """The judge's order to end the worker; its own end counts as one."""
    request = _receive(control)
    if request is None:
        return "orphaned", ""
    return str(request[0].get("cause", "ended")), ""


def _excess(ceiling: _Ceiling) -> tuple[str, str] | None:
    family = descendants(os.getpid())
    if len(family) > ceiling.processes:
        return "signal", "processes"
    seen = [_seen(pid) for pid in family]
    if sum(threads for _, threads in seen) > ceiling.threads:
        return "signal", "threads"
    # Pages shared with the zygote count in every process, so each is measured above an idle one.
    if sum(max(0, kib - ceiling.idle_kib) for kib, _ in seen) > ceiling.extra_kib:
        return "memory", ""
    if ceiling.scratch is not None and overfull(ceiling.scratch, ceiling.scratch_bytes):
        return "signal", "scratch"
    return None


def _own_death(status: int) -> tuple[str, str]:
    if os.WIFEXITED(status):
        return "exit", str(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    # RLIMIT_CPU speaks through SIGXCPU, and through SIGKILL a second later.
    if number == signal.SIGXCPU:
        return "timeout", ""
    return "signal", signal.Signals(number).name


def _kill_all(group: int) -> None:
    """Kill and reap every descendant; as subreaper, the zygote inherits them all."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        try:
            # Without a child there is no descendant, and no reason to search all of /proc.
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if ended == 0:
                _kill_descendants()
                os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _kill_descendants() -> None:
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """Every process below `pid`, from one pass over /proc (not every kernel lists children)."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - runs twenty times a second
        if entry.isdigit():
            children.setdefault(_parent_of(entry), []).append(int(entry))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _parent_of(entry: str) -> int:
    try:
        with open(f"/proc/{entry}/stat", "rb") as stat:  # noqa: PTH123
            # The name in parentheses may hold anything, so the fields are counted from behind it.
            return int(stat.read().rpartition(b")")[2].split()[1])
    except OSError:
        # It ended while the list was being read.
        return -1


def _seen(pid: int) -> tuple[int, int]:
    """Anonymous and shared memory in KiB (pages of files, as torch's, are not its own); threads."""
    total = threads = 0
    with contextlib.suppress(OSError), Path(f"/proc/{pid}/status").open("rb") as status:
        for line in status:
            if line.startswith((b"RssAnon:", b"RssShmem:")):
                total += int(line.split()[1])
            elif line.startswith(b"Threads:"):
                threads = int(line.split()[1])
    return total, threads


def _virtual_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    return pages * resource.getpagesize()


def _number(limits: dict[str, object], key: str) -> float:
    value = limits[key]
    if not isinstance(value, int | float):
        raise TypeError(key)
    return value


def _send(control: socket.socket, message: dict[str, object]) -> None:
    # A judge that is gone is noticed at the next read.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        control.send(json.dumps(message).encode())


def _receive(control: socket.socket) -> tuple[dict[str, object], list[int]] | None:
    data, ancillary, _, _ = control.recvmsg(MESSAGE_LIMIT, socket.CMSG_SPACE(2 * 4))
    descriptors = array.array("i")
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(payload[: len(payload) - len(payload) % descriptors.itemsize])
    return (json.loads(data), list(descriptors)) if data else None


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
