"""How the grader's own child processes are started: nothing inherited, nothing found by chance.

`-P -s` and an environment from nothing keep the current folder, `PYTHON*` and `PYTEST_*`
variables out; the import path is passed explicitly, so that torch from `pip install --user` is
found although no user folder is known. The hash seed is a constant, for equal reports.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# A process that has used several threads of torch hangs after a fork, so the number is set before
# torch or numpy is imported; and several workers side by side would fight for the cores.
ONE_THREAD = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# What a process cannot do without (Windows), or what chooses how torch computes.
PASSED_ON = (
    "SYSTEMROOT",
    "PATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "ATEN_CPU_CAPABILITY",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)


def command(program: str) -> list[str]:
    """The argument list that runs `program` (Python text) with this process's import path.

    The garbage collector is off: while torch is imported it finds nothing and takes a fifth of the
    time. A program that goes on for long turns it on again.
    """
    path = json.dumps([entry for entry in sys.path if entry and Path(entry).is_absolute()])
    start = f"import gc, sys; gc.disable(); sys.path[:] = {path}; {program}"
    return [_python(), "-P", "-s", "-B", "-c", start]


def _python() -> str:
    """The program that runs Python itself, so that its parent measures it and no launcher."""
    if sys.platform == "win32":
        # In a virtual environment `python.exe` is a launcher that starts another process.
        return str(getattr(sys, "_base_executable", "") or sys.executable)
    return sys.executable


def hide() -> None:
    """Keep this process's memory and environment from other processes of the same user.

    On Linux, for ordinary users: without Landlock a worker is such a process. Root can read
    everything, and no debugger of the same user can attach any more.
    """
    if sys.platform == "linux":
        from grader.sandbox.linux import privileges

        privileges.hide_memory()


def own_group() -> dict[str, Any]:
    """Arguments of `Popen` that keep the terminal's Ctrl-C from a child."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def environment(folder: Path) -> dict[str, str]:
    """A clean environment; everything that wants a home or a place for files gets `folder`."""
    own = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    threads = dict.fromkeys(ONE_THREAD, "1")
    homes = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP")
    settings = {
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # What is drawn to nowhere needs no fonts of the machine, of which there may be thousands,
        # and looks, and warns, alike on all machines with those that matplotlib brings along.
        "MPLBACKEND": "agg",
        "MPL_IGNORE_SYSTEM_FONTS": "1",
        "MPLCONFIGDIR": str(folder / ".config" / "matplotlib"),
        "LC_ALL": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # The same everywhere: what only a GPU computes would be lost on the next machine.
        "CUDA_VISIBLE_DEVICES": "",
        # glibc 2.35 and newer ask for huge pages then: of a heap of torch's size, the tables that
        # a fork copies and an exit takes down shrink by half, and both take half the time. And one
        # arena for all threads: every further one reserves 64 MiB or more of address space, which
        # is what bounds a worker's threads and memory.
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
    }
    if sys.platform == "win32" and sys.prefix != sys.base_prefix:
        # What the launcher would say: which environment this Python belongs to.
        settings["__PYVENV_LAUNCHER__"] = sys.executable
    return own | threads | dict.fromkeys(homes, str(folder)) | settings
