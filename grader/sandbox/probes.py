"""What a sandbox really keeps a submission from doing, found out by trying it in live workers.

Runs in a process of its own (it loads torch): `main` prints what it found as JSON. The source
below is the grader's, not a student's, so here, and only here, what the worker says is believed.
"""

import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from grader.errors import GraderError
from grader.model import Died, Limits, Observation, Piece, Raised, Returned, Source, Unit
from grader.sandbox.forked import ForkedBench
from grader.sandbox.forked import available as can_fork
from grader.sandbox.link import Bench, Output
from grader.sandbox.portable import PortableBench
from grader.sandbox.session import Session

# Small, so that reaching them takes little.
LIMITS = Limits(load_s=20.0, call_s=3.0, total_s=20.0, memory_mib=512, scratch_mib=4, output_kib=16)

SOURCE = """
import ctypes, os, socket, subprocess, sys

def works():
    import torch
    weight = torch.ones(2, requires_grad=True)
    weight.square().sum().backward()
    assert weight.grad.tolist() == [2.0, 2.0]
    return ""

def read_file(path):
    with open(path, "rb") as file: return f"{len(file.read())} bytes"

def list_folder(path): return f"{len(os.listdir(path))} names"

def write_file(path):
    with open(path, "w") as file: file.write("changed")
    return ""

def create_file(path):
    with open(path, "x"): pass
    return ""

def change_file(path):
    os.chmod(path, 0o440)
    # The kernel may be told to say yes and do nothing.
    if os.stat(path).st_mode & 0o222: raise PermissionError("the mode is as it was")
    return ""

def open_sockets():
    opened = []
    for name in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET"):
        for kind in ("SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW"):
            try:
                socket.socket(getattr(socket, name), getattr(socket, kind)).close()
            except (OSError, AttributeError):
                continue
            opened.append(f"{name} {kind}")
    if not opened: raise PermissionError("no socket of any family")
    return ", ".join(opened)

def fork():
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
    return ""

def run_a_program():
    return f"exit {subprocess.run([sys.executable, '-c', 'pass'], timeout=20).returncode}"

def signal_parent():
    if sys.platform == "win32": return "not tried here"
    os.kill(os.getppid(), 0)
    return ""

def read_parent():
    if sys.platform != "linux": return "not tried here"
    with open(f"/proc/{os.getppid()}/mem", "rb"): return ""

def read_parents_environment():
    if sys.platform != "linux": return "not tried here"
    with open(f"/proc/{os.getppid()}/environ", "rb") as file: return f"{len(file.read())} bytes"

def memory_without_a_name():
    os.close(os.memfd_create("hidden"))
    return ""

def fill_memory():
    held = []
    while True: held.append(bytearray(os.urandom(1 << 20) * 16))

def fill_disk():
    written = 0
    try:
        for k in range(64):
            with open(f"file-{k}", "wb") as file: written += file.write(bytes(1 << 20))
    except OSError: pass
    return written >> 20

def fill_output():
    for _ in range(64): print("x" * (1 << 16))
    return ""

def loop():
    while True: pass

def leave(): os._exit(3)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether one guarantee was kept, and what was seen.

    Args:
        guarantee: its name, e.g. `suite_unread`.
        detail: what the system answered, or what could be done; for course staff.
    """

    guarantee: str
    held: bool
    detail: str


def probe(bench: Bench, place: Path, home: Path) -> tuple[Held, ...]:
    """Try every guarantee in workers of `bench`, one after the other.

    Args:
        place: a private folder that stands for a course's; it gets a suite.
        home: of whoever grades.

    Raises:
        GraderError: when no worker starts.
    """
    suite = place / "test_hidden.py"
    suite.write_text("expected = 42\n", encoding="utf-8")
    attempts: dict[str, tuple[str, list[object]]] = {
        "suite_unread": ("read_file", [str(suite)]),
        "suite_unchanged": ("write_file", [str(suite)]),
        "modes_unchanged": ("change_file", [str(suite)]),
        "nothing_written_outside": ("create_file", [str(place / "conftest.py")]),
        "home_unread": ("list_folder", [str(home)]),
        "accounts_unread": ("read_file", ["/etc/passwd"]),
        "no_sockets": ("open_sockets", []),
        "no_fork": ("fork", []),
        "no_programs": ("run_a_program", []),
        "parent_unsignalled": ("signal_parent", []),
        "parent_memory_unread": ("read_parent", []),
        "parent_environment_unread": ("read_parents_environment", []),
        "no_uncounted_memory": ("memory_without_a_name", []),
    }
    with _session(bench) as session:
        found = [_works(session.call("works"))]
        for guarantee, (name, arguments) in attempts.items():
            found.append(_refused(guarantee, session.call(name, arguments)))
        found.append(_disk(session.call("fill_disk")))
        found.append(_output(session))
    found += [check(bench) for check in (_memory, _loop, _exit)]
    return (*found, _nothing_left(bench, place))


@contextmanager
def _session(bench: Bench) -> Iterator[Session]:
    source = Source(kind="module", pieces=(Piece(text=SOURCE),), units=(Unit(piece=0),))
    session = Session(bench=bench, source=source, limits=LIMITS, output=Output(LIMITS.output_kib))
    try:
        session.load()
        yield session
    finally:
        session.close()


def _works(seen: Observation) -> Held:
    return Held(guarantee="work_runs", held=isinstance(seen, Returned), detail=_words(seen))


def _refused(guarantee: str, seen: Observation) -> Held:
    """Held when the attempt raised: nothing in the source raises by itself."""
    return Held(guarantee=guarantee, held=isinstance(seen, Raised), detail=_words(seen))


def _disk(seen: Observation) -> Held:
    written = seen.value if isinstance(seen, Returned) else None
    held = isinstance(written, int) and written <= LIMITS.scratch_mib
    return Held(guarantee="disk_limited", held=held, detail=f"{_words(seen)} MiB")


def _output(session: Session) -> Held:
    seen = session.call("fill_output")
    printed = session.output.printed()
    kept = len(printed.head) + len(printed.tail)
    held = isinstance(seen, Returned) and kept <= LIMITS.output_kib << 10
    detail = f"{kept} bytes kept, {printed.dropped_bytes} dropped"
    return Held(guarantee="output_limited", held=held, detail=detail)


def _memory(bench: Bench) -> Held:
    with _session(bench) as session:
        seen = session.call("fill_memory")
    peak = session.usage.peak_memory_mib
    told = isinstance(seen, Raised) and seen.type.endswith("MemoryError")
    held = told or (isinstance(seen, Died) and seen.cause == "memory")
    return Held(guarantee="memory_limited", held=held, detail=f"{_words(seen)}, peak {peak} MiB")


def _loop(bench: Bench) -> Held:
    with _session(bench) as session:
        seen = session.call("loop")
    held = isinstance(seen, Died) and seen.cause == "timeout"
    return Held(guarantee="time_limited", held=held, detail=_words(seen))


def _exit(bench: Bench) -> Held:
    with _session(bench) as session:
        seen = session.call("leave")
    held = isinstance(seen, Died) and (seen.cause, seen.detail) == ("exit", "3")
    return Held(guarantee="death_told", held=held, detail=_words(seen))


def _nothing_left(bench: Bench, place: Path) -> Held:
    """Whether scratch is empty and the suite as it was, after all that was tried."""
    bench.close()
    left = sorted(each.name for each in place.rglob("file-*"))
    return Held(guarantee="nothing_left", held=not left, detail=", ".join(left))


def _words(seen: Observation) -> str:
    match seen:
        case Returned(value=value):
            return f"done {value}".strip() if not isinstance(value, int) else str(value)
        case Raised(type=type_, message=message):
            return f"{type_}: {message}"
        case Died(cause=cause, detail=detail):
            return f"{cause} {detail}".strip()


Opener = Callable[[Path, int, Callable[[], None]], Bench]
OPENERS: Mapping[str, Opener] = {
    "forked": ForkedBench,
    "portable": partial(PortableBench, alone=True),
}


def main(kind: str, home: str) -> None:
    """Print what holds with the bench `kind` (`forked`, `portable`, or `auto`) as one JSON object.

    Keys: `kind`, `level`, `layers`, `python`, `platform`, `probes`; or `problem`, when no worker
    could be started.
    """
    chosen = ("forked" if can_fork() else "portable") if kind == "auto" else kind
    with tempfile.TemporaryDirectory(prefix="torchgrade-") as private:
        place = Path(private).resolve()
        (place / "bench").mkdir()
        told: dict[str, object] = {"kind": chosen, "platform": platform.platform()}
        lifeline, held = os.pipe()
        bench = OPENERS[chosen](place / "bench", lifeline, _abandoned)
        try:
            found = probe(bench, place, Path(home))
            told |= {"level": bench.level, "layers": bench.layers}
            told["probes"] = [asdict(each) for each in found]
        except GraderError as error:
            told["problem"] = str(error)
        finally:
            bench.close()
            os.close(held)
            os.close(lifeline)
    sys.stdout.write(json.dumps(told) + "\n")


def _abandoned() -> None:
    os._exit(4)
