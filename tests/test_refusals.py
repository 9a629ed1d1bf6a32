"""An exception that the sandbox caused is told as such, with the next step; no other one is."""

import sys

import pytest
from conftest import OpenSession

from grader.model import Died, Raised, Text
from grader.sandbox import refusals

FULL = ("landlock", "seccomp", "net_namespace", "read_only")
PORTABLE = ("process", "watcher")


def code_of(text: Text | None) -> str | None:
    return None if text is None else text.code.removeprefix("sandbox.")


# --- what live workers raise ---------------------------------------------------------------------

ATTEMPTS = {
    "fork": ("processes", "import os\n    os.fork()"),
    "a program": ("processes", "import subprocess\n    subprocess.run(['ls'])"),
    "a shell": ("processes", "import subprocess\n    subprocess.check_output('ls', shell=True)"),
    "the output of a program": ("processes", "import os\n    os.popen('ls').read()"),
    "another program": ("processes", "import os\n    os.execv('/bin/ls', ['ls'])"),
    "a process": (
        "processes",
        "import multiprocessing\n    multiprocessing.Process(target=print).start()",
    ),
    "a pool": ("processes", "import multiprocessing\n    multiprocessing.Pool(2)"),
    "a spawned process": (
        "processes",
        "import multiprocessing as m\n    m.get_context('spawn').Process(target=print).start()",
    ),
    "an executor of processes": (
        "processes",
        "from concurrent.futures import ProcessPoolExecutor\n"
        "    ProcessPoolExecutor(2).submit(abs, 1).result()",
    ),
    "workers of a data loader": (
        "processes",
        "from torch.utils.data import DataLoader\n    list(DataLoader(range(4), num_workers=1))",
    ),
    "processes of torch": (
        "processes",
        "import torch.multiprocessing\n    torch.multiprocessing.spawn(print, nprocs=2)",
    ),
    "a lock": ("processes", "import multiprocessing\n    multiprocessing.Lock()"),
    "a queue": ("processes", "import multiprocessing\n    multiprocessing.Queue()"),
    "a shared tensor": ("processes", "import torch\n    torch.ones(3).share_memory_()"),
    "a manager": ("processes", "import multiprocessing\n    multiprocessing.Manager()"),
    "a socket": ("network", "import socket\n    socket.create_connection(('127.0.0.1', 80))"),
    "a name": ("network", "import socket\n    socket.getaddrinfo('example.org', 443)"),
    "a page": ("network", "from urllib.request import urlopen\n    urlopen('http://example.org')"),
    "a page by number": (
        "network",
        "from urllib.request import urlopen\n    urlopen('http://1.1.1.1')",
    ),
    "a model": ("network", "import torch\n    torch.hub.load('pytorch/vision', 'resnet18')"),
    "weights": (
        "network",
        "import torch\n    torch.hub.load_state_dict_from_url('https://example.org/x.pth')",
    ),
    "an account": ("files", "open('/etc/passwd')"),
    "a folder": ("files", "import os\n    os.listdir('/')"),
    "a file elsewhere": ("files", "open('/tmp/result.txt', 'w')"),
    "a folder elsewhere": ("files", "import os\n    os.mkdir('/data')"),
    "saving elsewhere": ("outside", "import torch\n    torch.save(1, '/usr/result.pt')"),
    "saving to a drive": ("files", "import torch\n    torch.save(1, '/content/drive/result.pt')"),
    "data beside the file": ("missing", "open('data.csv')"),
    "data above it": ("missing", "open('../data/train.csv')"),
    "a full disk": (
        "space",
        "for k in range(100): open(f'{k}', 'wb').write(bytes(1 << 20))",
    ),
    "too many threads": (
        "threads",
        "import threading\n    for _ in range(9999):\n"
        "        threading.Thread(target=threading.Event().wait, daemon=True).start()",
    ),
    "an index": (None, "[][0]"),
    "a wrong value": (None, "int('x')"),
    "an error of its own": (None, "raise OSError('no luck')"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="these refusals are Linux's")
@pytest.mark.parametrize(("expected", "attempt"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_what_the_sandbox_refuses_is_recognised(
    open_session: OpenSession, expected: str | None, attempt: str
) -> None:
    opened = open_session(
        f"def work():\n    {attempt}", call_s=30.0, total_s=60.0, memory_mib=1024, scratch_mib=8
    )

    seen = opened.call("work")

    if expected == "threads" and isinstance(seen, Died):
        # Where the worker is not counted alone, the watcher may be there first.
        assert seen.detail == "threads"
        return
    assert isinstance(seen, Raised), seen
    assert code_of(refusals.explain(seen.type, seen.message, opened.bench.layers)) == expected


# --- their words ------------------------------------------------------------------------------

TOLD = {
    "processes": [
        ("PermissionError", "[Errno 1] Operation not permitted"),
        ("PermissionError", "[Errno 13] Permission denied"),
        ("BlockingIOError", "[Errno 11] Resource temporarily unavailable"),
        ("OSError", "[Errno 38] Function not implemented"),
        ("OSError", "[Errno 30] Read-only file system"),
        ("RuntimeError", "DataLoader worker (pid(s) 12, 13) exited unexpectedly"),
        ("RuntimeError", "unable to open shared memory object </torch_1> in read-write mode"),
        ("concurrent.futures.process.BrokenProcessPool", "A child process terminated abruptly"),
        ("joblib.externals.loky.process_executor.TerminatedWorkerError", "A worker process died"),
    ],
    "network": [
        ("socket.gaierror", "[Errno -2] Name or service not known"),
        ("requests.exceptions.ConnectionError", "HTTPSConnectionPool(host='x.org', port=443)"),
        ("urllib3.exceptions.MaxRetryError", "Max retries exceeded with url: /"),
        ("httpx.ConnectError", "[Errno -3] Temporary failure in name resolution"),
        ("OSError", "We couldn't connect to 'https://huggingface.co' to load the files"),
        ("OSError", "[Errno 101] Network is unreachable"),
        ("ConnectionError", "Couldn't reach 'imdb' on the Hub (LocalEntryNotFoundError)"),
        ("huggingface_hub.errors.LocalEntryNotFoundError", "An error happened while trying"),
        ("RuntimeError", "Error downloading x: Please check your internet connection"),
    ],
    "files": [
        ("PermissionError", "[Errno 13] Permission denied: '/home/me/data.csv'"),
        ("OSError", "[Errno 30] Read-only file system: '/data'"),
        ("PermissionError", "[Errno 1] Operation not permitted: 'a' -> 'b'"),
        ("RuntimeError", "File /data/net.pt cannot be opened."),
        ("RuntimeError", "Parent directory /content/drive/My Drive does not exist."),
    ],
}


@pytest.mark.parametrize(
    ("code", "type_", "message"),
    [(code, *each) for code, told in TOLD.items() for each in told],
)
def test_the_words_of_libraries_are_understood(code: str, type_: str, message: str) -> None:
    assert code_of(refusals.explain(type_, message, FULL)) == code


@pytest.mark.parametrize(("type_", "message"), [each for told in TOLD.values() for each in told])
def test_where_nothing_is_locked_the_sandbox_is_not_to_blame(type_: str, message: str) -> None:
    assert refusals.explain(type_, message, PORTABLE) is None


def test_the_file_is_named_and_a_long_name_is_cut() -> None:
    short = refusals.explain("PermissionError", "[Errno 13] Permission denied: '/data/x.pt'", FULL)
    long = refusals.explain("FileNotFoundError", f"[Errno 2] No such file: '{'x' * 900}'", PORTABLE)

    assert short is not None and long is not None
    assert "so /data/x.pt is out of reach" in short.en
    assert len(str(long.args["file"])) == 80


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("ValueError", "could not convert string to float"),
        ("RuntimeError", "The size of tensor a (3) must match the size of tensor b (4)"),
        ("ModuleNotFoundError", "No module named 'torchvision'"),
        ("PermissionError", "you may not do this"),
        ("KeyError", "'network'"),
        ("RuntimeError", "shape '[2, 3]' is invalid for input of size 5"),
    ],
)
def test_other_exceptions_are_nobodys_refusals(type_: str, message: str) -> None:
    assert refusals.explain(type_, message, FULL) is None
