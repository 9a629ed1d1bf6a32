"""A Windows Job Object: a worker and all it starts, limited and ended as one.

A process cannot leave the job, whatever it starts belongs to it, and when its last handle is
closed (also because the judge has died) all of its processes are ended. Structures and constants
are those of <winnt.h>; the layout is for 64-bit Windows.
"""

import ctypes
import sys
from ctypes import wintypes
from typing import Any

# JOBOBJECTINFOCLASS
_EXTENDED_LIMIT_INFORMATION = 9
# JOB_OBJECT_LIMIT_*
LIMIT_ACTIVE_PROCESS = 0x00000008
LIMIT_JOB_MEMORY = 0x00000200
LIMIT_DIE_ON_UNHANDLED_EXCEPTION = 0x00000400
LIMIT_KILL_ON_JOB_CLOSE = 0x00002000
# Rights that AssignProcessToJobObject asks for.
PROCESS_TERMINATE = 0x0001
PROCESS_SET_QUOTA = 0x0100
# Process creation flag of <winbase.h>.
CREATE_SUSPENDED = 0x00000004


class IoCounters(ctypes.Structure):
    """IO_COUNTERS: 48 bytes."""

    _fields_ = (
        ("ReadOperationCount", ctypes.c_uint64),
        ("WriteOperationCount", ctypes.c_uint64),
        ("OtherOperationCount", ctypes.c_uint64),
        ("ReadTransferCount", ctypes.c_uint64),
        ("WriteTransferCount", ctypes.c_uint64),
        ("OtherTransferCount", ctypes.c_uint64),
    )


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION: 64 bytes; times in 100 ns, sizes in bytes."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        # DWORD is 32 bits on Windows; wintypes would make it a C long, 64 bits elsewhere.
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION: 144 bytes."""

    _fields_ = (
        ("BasicLimitInformation", BasicLimits),
        ("IoInfo", IoCounters),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


def limits(*, processes: int, memory_bytes: int | None = None) -> ExtendedLimits:
    """What a job is told: it ends with its last handle, and how much it may have.

    Args:
        processes: that may be alive at once, the worker among them; more cannot be started.
        memory_bytes: that all of them may commit in sum; None for no limit.
    """
    told = ExtendedLimits()
    basic = told.BasicLimitInformation
    # A crash must not wait for somebody to close a dialog.
    basic.LimitFlags = (
        LIMIT_KILL_ON_JOB_CLOSE | LIMIT_ACTIVE_PROCESS | LIMIT_DIE_ON_UNHANDLED_EXCEPTION
    )
    basic.ActiveProcessLimit = processes
    if memory_bytes is not None:
        basic.LimitFlags |= LIMIT_JOB_MEMORY
        told.JobMemoryLimit = memory_bytes
    return told


class WinJob:
    """A job with one process in it.

    Args:
        pid: of a process that has not started anything yet (suspended).
        processes: see `limits`.
        kernel32: the library that carries it out; tests bring their own.

    Raises:
        OSError: when Windows refuses, or where there is no Windows.
    """

    def __init__(self, pid: int, *, processes: int, kernel32: Any = None) -> None:
        self._kernel32 = _kernel32() if kernel32 is None else kernel32
        self._handle: int | None = self._kernel32.CreateJobObjectW(None, None)
        if not self._handle:
            raise _refused()
        try:
            self.limit(limits(processes=processes))
            self._take_in(pid)
        except OSError:
            self._kernel32.CloseHandle(self._handle)
            raise

    def limit(self, told: ExtendedLimits) -> None:
        """Replace the limits of the job.

        Raises:
            OSError: when Windows refuses.
        """
        if not self._kernel32.SetInformationJobObject(
            self._handle, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(told), ctypes.sizeof(told)
        ):
            raise _refused()

    def end(self) -> None:
        """End all processes of the job. Idempotent."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._kernel32.TerminateJobObject(handle, 1)
            self._kernel32.CloseHandle(handle)

    def _take_in(self, pid: int) -> None:
        process = self._kernel32.OpenProcess(PROCESS_SET_QUOTA | PROCESS_TERMINATE, False, pid)
        if not process:
            raise _refused()
        try:
            if not self._kernel32.AssignProcessToJobObject(self._handle, process):
                raise _refused()
        finally:
            self._kernel32.CloseHandle(process)


def _refused() -> OSError:
    if sys.platform == "win32":
        return ctypes.WinError(ctypes.get_last_error())
    return OSError("only Windows has jobs")


def _kernel32() -> Any:
    """kernel32 with the prototypes of <jobapi2.h>: without them handles are cut to 32 bits."""
    if sys.platform != "win32":
        raise _refused()
    library = ctypes.WinDLL("kernel32", use_last_error=True)
    handle, flag, number = wintypes.HANDLE, wintypes.BOOL, wintypes.DWORD
    prototypes: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "CreateJobObjectW": (handle, (wintypes.LPVOID, wintypes.LPCWSTR)),
        "SetInformationJobObject": (flag, (handle, ctypes.c_int, wintypes.LPVOID, number)),
        "OpenProcess": (handle, (number, flag, number)),
        "AssignProcessToJobObject": (flag, (handle, handle)),
        "TerminateJobObject": (flag, (handle, wintypes.UINT)),
        "CloseHandle": (flag, (handle,)),
    }
    for name, (result, arguments) in prototypes.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
