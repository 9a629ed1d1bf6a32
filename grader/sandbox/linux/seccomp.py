"""The list of system calls that a worker may use, as a filter in the kernel.

The program is classic BPF over `struct seccomp_data` (<linux/seccomp.h>): the architecture first
(a number means another call in another mode of the processor), then the number, then arguments.
Everything not named is refused with EPERM; what the C library can do without is answered with
ENOSYS, so that it falls back to an older call whose arguments can be checked here.

Changes of modes, times and owners are covered by no Landlock, and common libraries make them in
passing (`shutil.copy2`, `tarfile`). They are let through where the kernel has nothing but scratch
mounted for writing; elsewhere they are answered with success and not made, so that no file changes
and no right answer ends in an error over a date.
"""

import ctypes
import errno
import os
import struct

from grader.sandbox.linux import kernel, syscalls

# <linux/seccomp.h>
_SET_MODE_FILTER, _GET_ACTION_AVAIL = 1, 2
_RET_ERRNO, _RET_ALLOW = 0x00050000, 0x7FFF0000
_NR, _ARCH, _ARGS = 0, 4, 16
# <linux/bpf_common.h>: BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_J…|BPF_K, BPF_ALU|BPF_AND|BPF_K, BPF_RET
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
# <asm/unistd.h>: __X32_SYSCALL_BIT, the other numbering of x86-64
_X32 = 0x40000000
# Calls from here on are younger than this list.
_YOUNG = 450

# <linux/sched.h>: CLONE_NEWTIME, then NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_CLONE_THREAD, _CLONE_NEW = 0x00010000, 0x00000080 | 0x00020000 | 0x7E000000
# <asm-generic/fcntl.h>, the same on both architectures
_O_ACCMODE, _O_TRUNC = 0o3, 0o1000
# F_DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW, OFD_GETLK, OFD_SETLK, OFD_SETLKW,
# DUPFD_CLOEXEC. Not F_SETOWN and F_SETSIG (they send any signal to any process of the user).
_FCNTL = (*range(8), 36, 37, 38, 1030)
# <asm-generic/ioctls.h>: TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX; TCGETS2
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)
# <linux/prctl.h>: PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA
_PRCTL = (3, 15, 16, 0x53564D41)
# <bits/socket.h>: AF_UNIX; SOCK_STREAM and SOCK_SEQPACKET. A datagram socket, also one of a pair,
# can send to the path of any other.
_AF_UNIX, _SOCK_TYPE, _SOCK_KINDS = 1, 0xF, (1, 5)
# <asm-generic/socket.h>: what libraries ask of a socket of theirs. SO_REUSEADDR, TYPE, ERROR,
# SNDBUF, RCVBUF, KEEPALIVE, RCVTIMEO, SNDTIMEO, ACCEPTCONN, PROTOCOL, DOMAIN. Not who is at the
# other end of the channel: SO_PEERCRED, PEERSEC, PEERGROUPS, and PEERPIDFD, which is a descriptor
# of the judge.
_SOL_SOCKET, _SOCKET_OPTIONS = 1, (2, 3, 4, 7, 8, 9, 20, 21, 30, 38, 39)
_CHANGES_OF_MODES = ("chmod", "fchmod", "fchmodat")
# Each with the place of its pointer to times; none stands for now.
_CHANGES_OF_TIMES = {"utimensat": 2, "utime": 1, "utimes": 1, "futimesat": 2}
_CHANGES_OF_OWNERS = ("chown", "fchown", "lchown", "fchownat")
_ATTRIBUTES = tuple(
    f"{letter}{verb}xattr" for verb in ("set", "get", "list", "remove") for letter in ("", "l", "f")
)
# Clocks below zero belong to other processes (or devices).
_NEGATIVE = 0x80000000

# Stands for a process in a template: above any that Linux can have (PID_MAX_LIMIT, 2**22).
_SOME_PID = 0x7FC0FFEE

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    """`struct sock_fprog` of <linux/filter.h>."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def available() -> bool:
    """Whether the kernel has seccomp filters, and this machine's numbers are known here."""
    if not syscalls.supported():
        return False
    action = ctypes.c_uint32(_RET_ERRNO)
    try:
        kernel.call(_number("seccomp"), _GET_ACTION_AVAIL, 0, ctypes.addressof(action))
    except OSError:
        return False
    return True


def for_process(template: bytes, pid: int) -> bytes:
    """The filter that `allowlist` made, for the process `pid`."""
    return template.replace(struct.pack("=I", _SOME_PID), struct.pack("=I", pid))


def install(program: bytes) -> None:
    """Put this thread and all that it starts under the filter for good; needs no_new_privs."""
    fprog = _Program(length=len(program) // 8, filter=program)
    kernel.call(_number("seccomp"), _SET_MODE_FILTER, 0, ctypes.addressof(fprog))


def allowlist(machine: str | None = None, *, only_scratch_is_writable: bool = False) -> bytes:
    """The filter of a worker, a template: the worker's own number is filled in by `for_process`.

    That is the only process that it may signal or limit.

    Args:
        only_scratch_is_writable: every other mount refuses changes of whatever kind.
    """
    known = syscalls.numbers(syscalls.KNOWN, machine)
    arch = syscalls.AUDIT_ARCH[machine or os.uname().machine]
    code = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, arch), _refuse(errno.EPERM), (_LOAD, 0, 0, _NR)]
    code += [(_AT_LEAST, 0, 1, _X32), _refuse(errno.EPERM)]
    code += [(_AT_LEAST, 0, 1, _YOUNG), _refuse(errno.ENOSYS)]
    for number in syscalls.numbers(syscalls.ALLOWED, machine).values():
        code += [(_EQUAL, 0, 1, number), _ALLOW]
    of_files = _of_files(only_scratch_is_writable=only_scratch_is_writable)
    for name, decision in (_decisions() | of_files).items():
        if name in known:
            code += [(_EQUAL, 0, len(decision), known[name]), *decision]
    return b"".join(struct.pack("=HBBI", *each) for each in [*code, _refuse(errno.EPERM)])


def _decisions() -> dict[str, list[Instruction]]:
    """What decides a call by its arguments; each ends in a verdict."""
    no_clock_of_others: list[Instruction] = [
        _argument(0),
        (_ANY_BIT, 0, 1, _NEGATIVE),
        _refuse(errno.EPERM),
        _ALLOW,
    ]
    return {
        "open": _opening(1),
        "openat": _opening(2),
        "ioctl": _one_of(1, _IOCTL),
        "fcntl": _one_of(1, _FCNTL),
        "prctl": _one_of(0, _PRCTL),
        "kill": _one_of(0, (_SOME_PID,)),
        "tgkill": _one_of(0, (_SOME_PID,)),
        "prlimit64": _one_of(0, (0, _SOME_PID)),
        "sched_setaffinity": _one_of(0, (0, _SOME_PID)),
        "clock_gettime": no_clock_of_others,
        "clock_nanosleep": no_clock_of_others,
        "clone": [
            _argument(0),
            (_ANY_BIT, 0, 2, _CLONE_THREAD),
            (_ANY_BIT, 1, 0, _CLONE_NEW),
            _ALLOW,
            _refuse(errno.EPERM),
        ],
        "socketpair": [
            _argument(0),
            (_EQUAL, 1, 0, _AF_UNIX),
            _refuse(errno.EPERM),
            *_one_of(1, _SOCK_KINDS, mask=_SOCK_TYPE),
        ],
        "getsockopt": [
            _argument(1),
            (_EQUAL, 1, 0, _SOL_SOCKET),
            _refuse(errno.EPERM),
            *_one_of(2, _SOCKET_OPTIONS),
        ],
        # Not EPERM, which a submission's author would not connect with a network.
        "socket": [_refuse(errno.ENETUNREACH)],
        "clone3": [_refuse(errno.ENOSYS)],
        "openat2": [_refuse(errno.ENOSYS)],
    }


def _of_files(*, only_scratch_is_writable: bool) -> dict[str, list[Instruction]]:
    """What decides changes that Landlock does not cover."""
    decided = {name: [_refuse(errno.EOPNOTSUPP)] for name in _ATTRIBUTES}
    decided |= {name: [_PRETEND] for name in _CHANGES_OF_OWNERS}
    if only_scratch_is_writable:
        return decided | {name: [_ALLOW] for name in (*_CHANGES_OF_MODES, *_CHANGES_OF_TIMES)}
    decided |= {name: [_PRETEND] for name in _CHANGES_OF_MODES}
    return decided | {name: _pretend_times(place) for name, place in _CHANGES_OF_TIMES.items()}


def _pretend_times(place: int) -> list[Instruction]:
    """`Path.touch` sets the times to now first, and makes the file only when that was refused."""
    return [_argument(place), (_EQUAL, 0, 1, 0), _refuse(errno.EPERM), _PRETEND]


def _opening(flags: int) -> list[Instruction]:
    """Truncating needs the right to write, which versions 1 and 2 of Landlock do not ask for."""
    return [
        _argument(flags),
        (_ANY_BIT, 1, 0, _O_TRUNC),
        _ALLOW,
        (_ANY_BIT, 0, 1, _O_ACCMODE),
        _ALLOW,
        _refuse(errno.EPERM),
    ]


def _one_of(index: int, values: tuple[int, ...], mask: int | None = None) -> list[Instruction]:
    code = [_argument(index)]
    if mask is not None:
        code.append((_AND, 0, 0, mask))
    for value in values:
        code += [(_EQUAL, 0, 1, value), _ALLOW]
    return [*code, _refuse(errno.EPERM)]


def _argument(index: int) -> Instruction:
    # The low half: both machines are little-endian, and each argument checked here is an int of
    # the kernel's, which ignores the high half as well (or, of times, nothing hangs on it).
    return (_LOAD, 0, 0, _ARGS + 8 * index)


def _refuse(number: int) -> Instruction:
    return (_RETURN, 0, 0, _RET_ERRNO | number)


def _number(name: str) -> int:
    return syscalls.numbers(syscalls.KNOWN)[name]


_ALLOW: Instruction = (_RETURN, 0, 0, _RET_ALLOW)
# The error number 0: the call is not made, and returns as if it had succeeded.
_PRETEND: Instruction = (_RETURN, 0, 0, _RET_ERRNO)
