"""Which files a worker may read: what Python, torch and numpy need, and nothing else.

`sys.path` is not allowed as it stands: an editable install puts the whole checkout on it, with the
hidden suites. Only the standard library, folders for installed packages, and the package folders
of what is loaded already (torch from a place of its own) are.
"""

import site
import sys
import sysconfig
from pathlib import Path

_INSTALLED = ("site-packages", "dist-packages")
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    # Only a table of endings of names; `mimetypes` takes its absence, but no refusal.
    "/etc/mime.types",
    "/etc/fonts",
    "/usr/share/fonts",
    "/usr/share/fontconfig",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/usr/local/share/fonts",
    "/dev/urandom",
    "/dev/zero",
    # What libraries read to count processors and to choose their kernels.
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup/cpu.max",
)
# Of the process's own folder: not the memory, the environment, nor the command line, which each
# of its threads has in a folder of its own, too.
_OWN = (
    "status",
    "stat",
    "statm",
    "maps",
    "smaps",
    "smaps_rollup",
    "cgroup",
    "limits",
    "fd",
)
# Folders whose names may be read (how many threads there are), and nothing in them.
_OWN_LISTED = ("task",)


def readable() -> tuple[Path, ...]:
    """Folders and files that every worker may read; the same for all workers of a process."""
    found = [*_library_folders(), *_installed(), *map(Path, (*_LIBRARIES, *_FILES))]
    found += _loaded_from()
    existing = {each.resolve() for each in found if _is_there(each)}
    return tuple(sorted(each for each in existing if existing.isdisjoint(each.parents)))


def needed() -> tuple[Path, ...]:
    """A few files without which no submission runs; another user must be able to read them."""
    files = [Path(sysconfig.get_path("stdlib")) / "random.py", Path(__file__)]
    for name in ("torch", "numpy"):
        module = sys.modules.get(name)
        if module is not None and module.__file__:
            files += [Path(module.__file__)]
    return tuple(files)


def own_process() -> tuple[Path, ...]:
    """What a process may read about itself; asked for in the process itself."""
    return tuple(Path("/proc/self") / name for name in _OWN)


def own_folders() -> tuple[Path, ...]:
    """What a process may list about itself, but not read."""
    return tuple(Path("/proc/self") / name for name in _OWN_LISTED)


def _library_folders() -> list[Path]:
    keys = ("stdlib", "platstdlib")
    folders = [Path(sysconfig.get_path(key)) for key in keys]
    folders.append(Path(sys.base_prefix) / "lib")
    # Where libpython and, in an environment of conda, most shared libraries are.
    libdir = sysconfig.get_config_var("LIBDIR")
    folders += [Path(libdir)] if libdir else []
    folders += [Path(each) for each in sys.path if each.endswith((".zip", "lib-dynload"))]
    return folders


def _installed() -> list[Path]:
    folders = [*site.getsitepackages(), site.getusersitepackages(), *sys.path]
    return [Path(each) for each in folders if Path(each).name in _INSTALLED]


def _loaded_from() -> list[Path]:
    """The top folder of every loaded package, `grader` itself among them."""
    folders = []
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__path__", None)
        if "." not in name and origin is not None:
            folders += [Path(each).resolve() for each in list(origin)]
    return folders


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:
        # Of no use to whoever may not even look.
        return False
