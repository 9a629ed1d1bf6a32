"""The lock-down of a worker: decided once by its zygote, entered by each worker before its source.

Fail closed: what the kernel has and then refuses to install raises, and the worker never serves;
what the kernel does not have is missing from `Plan.layers`, which every report tells.

Order (each step would undo, or could no longer do, another one): namespaces and the bounding set
in the zygote; then in the worker Landlock's rules while everything can still be opened, the limit
of processes, no_new_privs, the other user, the rest of the capabilities, not being looked into,
dying with the parent (a change of user forgets both), Landlock, and seccomp last, because it
refuses most of these steps.
"""

import os
import resource
import stat
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import scratch, tasks
from grader.sandbox.linux import landlock, namespaces, places, privileges, seccomp
from grader.sandbox.linux.privileges import Identity

_FULL = frozenset({"landlock", "seccomp", "no_new_privs", "rlimits"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be installed. Only tests leave out what the machine has.

    Args:
        landlock_abi: 0 when there is none.
        filter: the template of the seccomp filter; empty when there is none.
        identity: the user to become; None to stay the same.
        namespaces: those that the zygote has entered.
        read_only: every mount but scratch is.
        threads: how many one worker may have.
    """

    landlock_abi: int
    filter: bytes
    readable: tuple[Path, ...]
    identity: Identity | None = None
    namespaces: tuple[str, ...] = ()
    read_only: bool = False
    no_new_privs: bool = True
    capabilities: bool = True
    undumpable: bool = True
    threads: int = tasks.MOST_THREADS

    @property
    def counted_alone(self) -> bool:
        """Whether the kernel counts what a worker runs apart from what its user runs elsewhere."""
        return self.identity is not None or "user_namespace" in self.namespaces

    @property
    def tmpfs(self) -> bool:
        return "mount_namespace" in self.namespaces

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of what is in force in every worker."""
        present = {
            "no_new_privs": self.no_new_privs,
            "capabilities": self.capabilities,
            "undumpable": self.undumpable,
            "uid": self.identity is not None,
            "landlock": self.landlock_abi > 0,
            "seccomp": bool(self.filter),
            **dict.fromkeys(self.namespaces, True),
            "tmpfs": self.tmpfs,
            "read_only": self.read_only,
        }
        return tuple(name for name, here in present.items() if here)


def level(layers: tuple[str, ...]) -> str:
    """`full` when the layers are those that the guarantees rest on, else `reduced`."""
    return "full" if set(layers) >= _FULL else "reduced"


def prepare(home: Path, without: Collection[str] = ()) -> Plan:
    """Enter the namespaces that can be had, and decide the rest for all workers of this process.

    Args:
        home: an existing folder, where every worker has its scratch.
        without: layers to leave out (`namespaces` for all of these), to show what each is for.

    Raises:
        OSError: when something that the kernel has cannot be installed.
    """
    identity = None if "uid" in without else _identity(home)
    taken: tuple[str, ...] = ()
    if "namespaces" not in without and not _in_a_child(lambda: _try_namespaces(home, identity)):
        taken = namespaces.enter()
    # Bounds only what an exec could gain, so it costs this process nothing; inherited.
    privileges.bound_capabilities()
    read_only = bool(taken) and namespaces.make_read_only()
    plan = Plan(
        landlock_abi=0 if "landlock" in without else landlock.version(),
        filter=_filter(read_only=read_only) if _wants_seccomp(without) else b"",
        readable=places.readable(),
        identity=identity,
        namespaces=taken,
        read_only=read_only,
        no_new_privs="no_new_privs" not in without,
        capabilities="capabilities" not in without,
        undumpable="undumpable" not in without,
        threads=tasks.MOST_THREADS if identity is not None else tasks.share(),
    )
    open_scratch(plan, home, 1)
    try:
        parent = os.getpid()
        if problem := _in_a_child(lambda: enter(plan, home, parent)):
            raise OSError(f"the sandbox cannot be set up: {problem}")
    finally:
        close_scratch(plan, home)
    return plan


def _wants_seccomp(without: Collection[str]) -> bool:
    return "seccomp" not in without and seccomp.available()


def _filter(*, read_only: bool) -> bytes:
    return seccomp.allowlist(only_scratch_is_writable=read_only)


def open_scratch(plan: Plan, home: Path, mib: int) -> None:
    """Make `home` an empty folder that the next worker owns."""
    if plan.tmpfs:
        namespaces.mount_scratch(home, mib, plan.identity)
        return
    scratch.remove(home)
    home.mkdir(mode=0o700)
    if plan.identity is not None:
        os.chown(home, plan.identity.uid, plan.identity.gid)


def close_scratch(plan: Plan, home: Path) -> None:
    """Remove what a worker has left in `home`."""
    if plan.tmpfs:
        namespaces.unmount_scratch(home)
    else:
        scratch.remove(home)


def enter(plan: Plan, home: Path, parent: int) -> None:
    """Lock this process down for good; `home` stays writable.

    Args:
        parent: the process whose end is to be this one's.

    Raises:
        OSError: when a layer cannot be installed; nothing untrusted may run then.
    """
    if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208 - names only
        # Neither Landlock nor the capabilities of one thread bind another.
        raise OSError("there is more than one thread")
    rules = _rules(plan, home) if plan.landlock_abi else None
    if plan.counted_alone:
        _limit_threads(plan.threads)
    if plan.no_new_privs:
        privileges.gain_nothing_by_exec()
    if plan.identity is not None:
        privileges.become(plan.identity)
    if plan.capabilities:
        privileges.drop_capabilities()
    if plan.undumpable:
        privileges.hide_memory()
    privileges.die_with(parent)
    if rules is not None:
        rules.enforce()
    if plan.filter:
        seccomp.install(seccomp.for_process(plan.filter, os.getpid()))


def _rules(plan: Plan, home: Path) -> landlock.Ruleset:
    rules = landlock.Ruleset(plan.landlock_abi)
    rules.allow(plan.readable, landlock.READ)
    rules.allow(places.own_process(), landlock.READ)
    rules.allow(places.own_folders(), landlock.READ_DIR)
    rules.allow([Path(os.devnull)], landlock.READ_FILE | landlock.WRITE_FILE)
    rules.allow([home], landlock.SCRATCH)
    return rules


def _limit_threads(threads: int) -> None:
    """Only where the worker is counted alone: else the kernel counts all that the user runs."""
    _, ceiling = resource.getrlimit(resource.RLIMIT_NPROC)
    bound = threads if ceiling == resource.RLIM_INFINITY else min(threads, ceiling)
    resource.setrlimit(resource.RLIMIT_NPROC, (bound, bound))


def _identity(home: Path) -> Identity | None:
    """Another user, where this one may choose and that one could read what Python needs."""
    if os.geteuid() != 0:
        return None
    found = privileges.unused_identity(os.getpid())
    if found is None:
        return None
    _let_pass(home)
    return found if _in_a_child(lambda: _try_identity(found, home)) == "" else None


def _let_pass(home: Path) -> None:
    """Let others pass through the grader's own private folders above `home`, not look into them."""
    closed = [each for each in home.parents if not each.stat().st_mode & stat.S_IXOTH]
    own = [each for each in closed if "torchgrade-" in str(each)]
    for each in own if own == closed else []:
        each.chmod(0o711)


def _try_identity(identity: Identity, home: Path) -> None:
    privileges.become(identity)
    for path in places.needed():
        path.read_bytes()
    for folder in filter(None, sys.path):
        if Path(folder).name in ("site-packages", "dist-packages"):
            os.listdir(folder)  # noqa: PTH208 - only whether it can be done
    home.stat()


def _try_namespaces(home: Path, identity: Identity | None) -> None:
    namespaces.enter()
    namespaces.mount_scratch(home, 1, identity)
    namespaces.unmount_scratch(home)


def _in_a_child(attempt: Callable[[], object]) -> str:
    """What went wrong when a forked child tried it; empty when nothing did."""
    reader, writer = os.pipe()
    pid = tasks.started(os.fork)
    if pid == 0:
        told = b"it ended early"
        try:
            attempt()
            told = b""
        except BaseException as error:  # noqa: BLE001 - told to the parent
            told = f"{type(error).__name__}: {error}".encode(errors="replace")
        finally:
            os.write(writer, told[:1000])
            os._exit(1 if told else 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        told = stream.read()
    _, status = os.waitpid(pid, 0)
    return told.decode(errors="replace") or ("" if status == 0 else f"wait status {status}")
