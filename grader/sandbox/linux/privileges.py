"""What a process gives up for good: privileges, capabilities, its user, being looked into.

Constants: <linux/prctl.h>, <linux/capability.h>; the order matters and is that of `lockdown`.
"""

import ctypes
import errno
import os
import pwd
import signal
from dataclasses import dataclass

from grader.sandbox.linux import kernel, syscalls

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
# The range that systemd hands out for a moment at a time and nobody else claims; containers that
# map 65,536 users have it, too (https://systemd.io/UIDS-GIDS).
_FIRST_USER, _LAST_USER = 61184, 65519


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A user and a group that own nothing."""

    uid: int
    gid: int


def unused_identity(seed: int) -> Identity | None:
    """A user that this machine does not know, another one for most seeds; None if all are."""
    span = _LAST_USER - _FIRST_USER + 1
    for step in range(span):
        number = _FIRST_USER + (seed + step) % span
        try:
            pwd.getpwuid(number)
        except KeyError:
            return Identity(uid=number, gid=number)
    return None


def become(identity: Identity) -> None:
    """Be that user and group only, in all of real, effective and saved."""
    os.setgroups([])
    os.setresgid(identity.gid, identity.gid, identity.gid)
    os.setresuid(identity.uid, identity.uid, identity.uid)


def gain_nothing_by_exec() -> None:
    """Set no_new_privs, without which neither Landlock nor seccomp is open to everyone."""
    kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)


def bound_capabilities() -> None:
    """Empty the bounding set. Before another user is taken, which loses the right to."""
    capability = 0
    while True:
        try:
            kernel.prctl(_PR_CAPBSET_DROP, capability)
        except OSError as error:
            # EINVAL: there is none of this number. EPERM: an ordinary user, whose set bounds
            # nothing once no_new_privs is set.
            if error.errno in (errno.EINVAL, errno.EPERM):
                return
            raise
        capability += 1


def drop_capabilities() -> None:
    """Give up every capability, and make sure of it.

    Raises:
        OSError: when one is left.
    """
    kernel.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header, data = _Header(version=_CAPABILITY_VERSION_3, pid=0), (_Data * 2)()
    numbers = syscalls.numbers(syscalls.KNOWN)
    kernel.call(numbers["capset"], ctypes.addressof(header), ctypes.addressof(data))
    kernel.call(numbers["capget"], ctypes.addressof(header), ctypes.addressof(data))
    if any(each.effective | each.permitted | each.inheritable for each in data):
        raise OSError(errno.EPERM, "a capability is left")


def hide_memory() -> None:
    """Let no other process of the user attach, or read memory and descriptors under /proc."""
    kernel.prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own."""
    kernel.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """Die when the parent does. After the user was changed, which forgets this.

    Raises:
        OSError: when the parent is gone already.
    """
    kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise OSError(errno.ESRCH, "the parent is gone")
