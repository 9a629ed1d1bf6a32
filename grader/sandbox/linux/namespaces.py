"""A network, a table of mounts and System V objects of one's own, where the kernel gives them.

The zygote takes them once; its workers inherit them. Many kernels and containers refuse: then
Landlock and seccomp stand alone, so nothing may depend on what is here.

There is no pid namespace. Its first process is init to the kernel: signals that would end any
other process do not end it, so submissions would die differently from machine to machine; and
what it is good for, that no process outlives the run, is seen to by seccomp and the zygote.

Constants: <linux/sched.h>, <linux/mount.h>; rules for the maps: user_namespaces(7).
"""

import ctypes
import errno
import os
from pathlib import Path

from grader.sandbox.linux import kernel, syscalls
from grader.sandbox.linux.privileges import Identity

_CLONE_NEWNS, _CLONE_NEWIPC = 0x00020000, 0x08000000
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_REC, _MS_PRIVATE = 0x4000, 1 << 18
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY = 1
_MOST_FILES = 10_000


class _MountAttr(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")
    )


def enter() -> tuple[str, ...]:
    """Move this single-threaded process into namespaces of its own; which ones they are.

    Raises:
        OSError: when one is refused; the process is then of no more use.
    """
    uid, gid = os.geteuid(), os.getegid()
    flags = _CLONE_NEWNS | _CLONE_NEWIPC | _CLONE_NEWNET
    unshare = syscalls.numbers(syscalls.KNOWN)["unshare"]
    names: tuple[str, ...] = ("mount_namespace", "ipc_namespace", "net_namespace")
    if uid == 0:
        kernel.call(unshare, flags)
    else:
        kernel.call(unshare, flags | _CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        names += ("user_namespace",)
    # Else what is mounted here would appear outside, too.
    kernel.mount("none", "/", "", _MS_REC | _MS_PRIVATE, "")
    return names


def make_read_only() -> bool:
    """Make every mount that is visible here read-only; False when the kernel cannot."""
    attr = _MountAttr(attr_set=_MOUNT_ATTR_RDONLY)
    number = syscalls.numbers(syscalls.KNOWN)["mount_setattr"]
    root = ctypes.create_string_buffer(b"/")
    try:
        kernel.call(
            number,
            _AT_FDCWD,
            ctypes.addressof(root),
            _AT_RECURSIVE,
            ctypes.addressof(attr),
            ctypes.sizeof(attr),
        )
    except OSError:
        return False
    return True


def mount_scratch(home: Path, mib: int, identity: Identity | None) -> None:
    """Put an empty file system of limited size, held in memory, on the folder `home`."""
    owner = f",uid={identity.uid},gid={identity.gid}" if identity else ""
    options = f"size={mib}m,nr_inodes={_MOST_FILES},mode=0700{owner}"
    kernel.mount("tmpfs", str(home), "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)


def unmount_scratch(home: Path) -> None:
    """Take it away with all that is in it; nothing happens when there is none."""
    try:
        kernel.unmount(str(home), _MNT_DETACH)
    except OSError as error:
        # EINVAL: not a place where something is mounted.
        if error.errno != errno.EINVAL:
            raise
