"""Landlock: which files a process may read and write, for the rest of its life.

Constants and structures: <linux/landlock.h>; versions of the ABI: landlock(7).
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from grader.sandbox.linux import kernel, syscalls

NEWEST_KNOWN = 9
_CREATE_RULESET_VERSION = 1 << 0
_RULE_PATH_BENEATH = 1
# From version 7 on: refusals go to no audit log, which a submission could fill.
_LOG_SAME_EXEC_OFF = 1 << 0

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << k for k in range(6))
MAKE_DIR, MAKE_REG = 1 << 7, 1 << 8
REFER, TRUNCATE = 1 << 13, 1 << 14
# Rights that have no meaning for a file; a rule on a file that names one is refused.
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
READ = READ_FILE | READ_DIR
SCRATCH = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE
# Version of the ABI to the number of file-system rights that it handles, as a run of low bits:
# 2 adds REFER, 3 TRUNCATE, 5 IOCTL_DEV, 9 RESOLVE_UNIX.
_FS_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16, 8: 16, 9: 17}
_NET_FROM, _NET_BIND_AND_CONNECT_TCP = 4, 0b11
_SCOPE_FROM, _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 6, 0b11
_LOG_FROM = 7


class _RulesetAttr(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneathAttr(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def version() -> int:
    """The kernel's version of the ABI; 0 when it has no Landlock, or it is not enabled."""
    if not syscalls.supported():
        return 0
    try:
        return kernel.call(_number("landlock_create_ruleset"), 0, 0, _CREATE_RULESET_VERSION)
    except OSError as error:
        # EPERM: a container's profile from before Landlock refuses what it does not know.
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


class Ruleset:
    """Rules that are open but not yet enforced: everything is denied but what they allow."""

    def __init__(self, abi: int) -> None:
        self.abi = min(abi, NEWEST_KNOWN)
        self.handled = (1 << _FS_BITS[self.abi]) - 1
        attr = _RulesetAttr(
            handled_access_fs=self.handled,
            handled_access_net=_NET_BIND_AND_CONNECT_TCP if self.abi >= _NET_FROM else 0,
            scoped=_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if self.abi >= _SCOPE_FROM else 0,
        )
        # An older kernel refuses a structure that is longer than the one it knows.
        size = 24 if self.abi >= _SCOPE_FROM else 16 if self.abi >= _NET_FROM else 8
        number = _number("landlock_create_ruleset")
        self.descriptor = kernel.call(number, ctypes.addressof(attr), size, 0)

    def allow(self, paths: Iterable[Path], access: int) -> None:
        """Allow `access` on each path and everything below it; what does not exist is skipped."""
        for path in paths:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                continue
            try:
                # A rule on a file that names a right of folders is refused.
                is_folder = stat.S_ISDIR(os.fstat(opened).st_mode)
                self._allow(opened, access if is_folder else access & _OF_FILES)
            finally:
                os.close(opened)

    def _allow(self, opened: int, access: int) -> None:
        attr = _PathBeneathAttr(allowed_access=access & self.handled, parent_fd=opened)
        number = _number("landlock_add_rule")
        kernel.call(number, self.descriptor, _RULE_PATH_BENEATH, ctypes.addressof(attr), 0)

    def enforce(self) -> None:
        """Restrict this thread for good; needs no_new_privs."""
        flags = _LOG_SAME_EXEC_OFF if self.abi >= _LOG_FROM else 0
        kernel.call(_number("landlock_restrict_self"), self.descriptor, flags)
        os.close(self.descriptor)


def _number(name: str) -> int:
    return syscalls.numbers(syscalls.KNOWN)[name]
