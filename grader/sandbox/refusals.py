"""What an exception of a submission has to do with the sandbox, told from its own words.

A refusal reaches the student as "Operation not permitted" from the depths of a library. Here it is
recognised by the exception's type and message, and answered by the reason and the next step. Type
and message are claims: what is made of them is a sentence, no point depends on it.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final

from grader.claims import cut
from grader.model import Text
from grader.texts import catalog

# What must be in force for the sandbox to be the reason.
_OF_PROCESSES: Final = frozenset({"seccomp"})
_OF_NETWORK: Final = frozenset({"seccomp", "net_namespace"})
_OF_FILES: Final = frozenset({"landlock", "read_only", "mount_namespace"})

# EPERM and EACCES without a name of a file come from `fork` and from the semaphores of
# multiprocessing, which may also meet a file system that is read-only, missing or without them.
_NO_PROCESS = re.compile(
    r"\[Errno (?:1\] Operation not permitted|2\] No such file or directory|13\] Permission denied"
    r"|11\] Resource temporarily unavailable|30\] Read-only file system"
    r"|38\] Function not implemented)"
)
_PROCESS_WORDS = re.compile(
    r"unable to open shared memory object|DataLoader worker .{0,200} exited"
)
_PROCESS_TYPES = ("BrokenProcessPool", "TerminatedWorkerError", "ProcessRaisedException")
_NO_THREAD = re.compile(
    r"can't (?:start|allocate) (?:new thread|lock)|Resource temporarily .{0,200}thread"
)
_NETWORK_TYPES = (
    "ConnectionError",
    "gaierror",
    "URLError",
    "ConnectError",
    "ConnectTimeout",
    "MaxRetryError",
    "NewConnectionError",
    "NameResolutionError",
    "LocalEntryNotFoundError",
    "OfflineModeIsEnabled",
    "ClientConnectorError",
    "ClientConnectorDNSError",
)
_NETWORK_WORDS = re.compile(
    r"Temporary failure in name resolution|Name or service not known|Network is unreachable"
    r"|nodename nor servname|getaddrinfo failed|no internet connection|Max retries exceeded"
    r"|Failed to establish a new connection|Failed to resolve|[Cc]ould(?:n't| not) (?:connect|reach"
    r"|resolve)|check your (?:internet )?connection|Errno -[23]\]",
)
_REFUSED_FILE = re.compile(r"\[Errno (?:1|13|30)\] [^:]{1,80}: (?P<file>['\"].*)", re.DOTALL)
_TORCH_FILE = re.compile(
    r"(?:File|Parent directory) (?P<file>\S.{0,300}?) (?:cannot be opened|does not ex)"
)
_UNNAMED_FILE = re.compile(r"open file failed with strerror: (?:Read-only|Permission|Operation)")
_MISSING_FILE = re.compile(r"\[Errno 2\] [^:]{1,80}: (?P<file>['\"].*)", re.DOTALL)
_FULL = re.compile(r"\[Errno (?:27\] File too large|28\] No space left on device)")
_FILE_CHARACTERS: Final = 80


def explain(type_: str, message: str, layers: Collection[str]) -> Text | None:
    """The sandbox's part in an exception, and the way out; None when it has none.

    Args:
        type_: the exception's type with its module, e.g. `urllib.error.URLError`.
        layers: those in force, as the bench tells them: where nothing keeps a submission from the
            network, an error of the network is not the sandbox's.
    """
    for code, file in _reasons(type_.rpartition(".")[2], message, frozenset(layers)):
        return catalog.text(f"sandbox.{code}", **({"file": file} if file else {}))
    return None


def _reasons(name: str, message: str, layers: frozenset[str]) -> Iterator[tuple[str, str | None]]:
    """What fits, the most telling first: the sentence's code and the file that it is about."""
    if _NO_THREAD.search(message):
        yield "threads", None
    if _FULL.search(message):
        yield "space", None
    if layers & _OF_NETWORK and (name in _NETWORK_TYPES or _NETWORK_WORDS.search(message)):
        yield "network", None
    if layers & _OF_PROCESSES and (
        name in _PROCESS_TYPES or _PROCESS_WORDS.search(message) or _NO_PROCESS.fullmatch(message)
    ):
        yield "processes", None
    if layers & _OF_FILES and (
        found := _REFUSED_FILE.search(message) or _TORCH_FILE.search(message)
    ):
        yield "files", _file(found)
    if layers & _OF_FILES and _UNNAMED_FILE.search(message):
        yield "outside", None
    if name == "FileNotFoundError" and (found := _MISSING_FILE.search(message)):
        yield "missing", _file(found)


def _file(found: re.Match[str]) -> str:
    return cut(found["file"].strip().strip("'\""), _FILE_CHARACTERS)
