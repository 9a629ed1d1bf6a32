"""System calls that Python has no function for, by number."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_prctl = _libc.prctl
_prctl.restype = ctypes.c_int


def call(number: int, *arguments: int) -> int:
    """What the system call `number` returns; addresses are passed as numbers.

    Raises:
        OSError: with the kernel's errno.
    """
    # A variadic function: every argument must fill a whole register.
    result = int(_syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)))
    if result == -1:
        _fail(f"system call {number}")
    return result


def prctl(option: int, *arguments: int) -> int:
    """What prctl(2) returns; arguments that are not given are 0, as many options demand.

    Raises:
        OSError: with the kernel's errno.
    """
    padded = [*arguments, 0, 0, 0, 0][:4]
    result = int(_prctl(ctypes.c_int(option), *map(ctypes.c_ulong, padded)))
    if result == -1:
        _fail(f"prctl {option}")
    return result


def mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    """Mount a file system, as mount(2) does.

    Raises:
        OSError: with the kernel's errno.
    """
    words = [ctypes.c_char_p(os.fsencode(each)) for each in (source, target, kind, options)]
    if _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]) != 0:
        _fail(f"mount {kind}")


def unmount(target: str, flags: int) -> None:
    """Unmount what is mounted on `target`, as umount2(2) does.

    Raises:
        OSError: with the kernel's errno.
    """
    if _libc.umount2(ctypes.c_char_p(os.fsencode(target)), ctypes.c_int(flags)) != 0:
        _fail("umount2")


def _fail(what: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")
