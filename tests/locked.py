"""Forked children in the lock-down, with layers left out: what they could do is told as a word."""

import errno
import os
import platform
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from grader.sandbox.linux import kernel, lockdown, places, privileges, seccomp, syscalls

# Loads what a user to whom this interpreter is closed could not load any more.
places.readable()

# Every attack answers `done`, or how it was refused.
Attack = Callable[[], object]


def outcome(
    attack: Attack,
    *,
    without: tuple[str, ...] = (),
    uid: int | None = None,
    abi: int | None = None,
    first: Callable[[], object] | None = None,
) -> str:
    """What became of `attack` in a locked-down worker: `done: …`, `refused: …`, `died: …`,
    or `failed: …` when it never began.

    Args:
        without: layers that are left out.
        uid: the ordinary user that grades, where root runs the tests.
        abi: the version of Landlock that the kernel seems to have.
        first: runs in the process that stands for the zygote, before it plans.
    """
    with _folder(uid) as home:
        return _in_child(lambda: _as_zygote(attack, home, without, uid, abi, first))


def layers(uid: int | None = None, first: Callable[[], object] | None = None) -> tuple[str, ...]:
    """The layers that a zygote finds."""

    def ask(home: Path) -> str:
        _begin(uid, first)
        home.mkdir(mode=0o700)
        return " ".join(("rlimits", *lockdown.prepare(home).layers))

    with _folder(uid) as home:
        return tuple(_in_child(lambda: ask(home)).split())


def _begin(uid: int | None, first: Callable[[], object] | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        # A process that changed its user is as closed as one that asked for it.
        kernel.prctl(4, 1)
    if first is not None:
        first()


def _as_zygote(
    attack: Attack,
    home: Path,
    without: tuple[str, ...],
    uid: int | None,
    abi: int | None,
    first: Callable[[], object] | None,
) -> str:
    _begin(uid, first)
    home.mkdir(mode=0o700)
    plan = lockdown.prepare(home, without)
    if abi is not None:
        plan = replace(plan, landlock_abi=min(abi, plan.landlock_abi))
    if plan.undumpable:
        privileges.hide_memory()
    lockdown.open_scratch(plan, home, 8)
    zygote = os.getpid()

    def as_worker() -> str:
        os.setsid()
        os.chdir(home)
        os.environ.update(dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), str(home)))
        tempfile.tempdir = None
        lockdown.enter(plan, home, zygote)
        try:
            return f"done: {attack()}"
        except OSError as error:
            return f"refused: {type(error).__name__}: {error}"

    try:
        return _in_child(as_worker)
    finally:
        lockdown.close_scratch(plan, home)


def _in_child(work: Callable[[], str]) -> str:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        told = "failed: nothing was told"
        try:
            told = work()
        except BaseException as error:  # noqa: BLE001 - that is the answer
            told = f"failed: {type(error).__name__}: {error}"
        finally:
            os.write(writer, told.encode("utf-8", "replace")[:4000])
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        told = stream.read().decode("utf-8", "replace")
    _, status = os.waitpid(pid, 0)
    return told or f"died: {status}"


@contextmanager
def _folder(uid: int | None) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="torchgrade-"))
    if uid is not None:
        os.chown(folder, uid, uid)
    try:
        yield folder / "worker"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse(answers: Mapping[int, int]) -> None:
    """Let the kernel answer these system calls with an errno, as an older or a contained one does.

    Args:
        answers: the call's number to the errno.
    """
    # <linux/bpf_common.h>, <linux/seccomp.h>: load the number; per call: is it this one? refuse.
    code = [(0x20, 0, 0, 0)]
    for number, error in answers.items():
        code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error)]
    code += [(0x06, 0, 0, 0x7FFF0000)]
    privileges.gain_nothing_by_exec()
    seccomp.install(b"".join(struct.pack("=HBBI", *each) for each in code))


def forget_landlock() -> None:
    """Be on a kernel from before Landlock, or with it switched off."""
    names = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
    refuse({syscalls.numbers(syscalls.KNOWN)[name]: errno.ENOSYS for name in names})


def enter_a_container() -> None:
    """Be under what Docker's default profile refuses: unshare, mount, setns, mount_setattr."""
    known = syscalls.numbers(syscalls.KNOWN)
    mount, setns = ((165, 308), (40, 268))[platform.machine() == "aarch64"]
    numbers = (known["unshare"], known["mount_setattr"], mount, setns)
    refuse(dict.fromkeys(numbers, errno.EPERM))
