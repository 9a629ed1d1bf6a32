"""How a spawned worker begins: its channel to private descriptors, its limits, then `worker`.

Runs in the untrusted process, before anything of the submission is read.
"""

import contextlib
import gc
import json
import os
import sys
import threading
import time

from grader.sandbox import command_line, plots, tasks, worker


def main() -> None:
    """Serve the judge on what were stdin and stdout."""
    command_line.forget("torchgrade-worker")
    reader, writer = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (reader, writer):
            msvcrt.setmode(descriptor, os.O_BINARY)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    # What is printed goes where stderr goes: the judge reads it as output.
    os.dup2(2, 1)
    os.close(devnull)
    tasks.started(threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start)
    import torch

    torch.set_num_threads(1)
    # Off since the start, see `launch.command`.
    gc.freeze()
    gc.enable()
    plots.draw_to_nowhere()
    _set_limits(json.loads(_line(reader)))
    sys.path[:] = command_line.path_beyond_the_checkout()
    for name in ("command_line", "plots", "portable_worker", "tasks"):
        sys.modules.pop(f"grader.sandbox.{name}", None)
    sys.modules["__main__"] = type(sys)("__main__")
    # The place of the lock-down: nothing of the submission has been read yet.
    try:
        worker.serve(reader, writer)
    finally:
        # No interpreter shutdown: atexit hooks and destructors are student code by now.
        os._exit(0)


def _end_with(parent: int) -> None:
    """End this process when the judge is gone: a loop in the submission never reads its channel."""
    # On Windows a dead parent keeps its number, and the watch is without effect.
    while os.getppid() == parent:
        time.sleep(0.25)
    os._exit(0)


def _line(reader: int) -> bytes:
    data = bytearray()
    while not data.endswith(b"\n") and (part := os.read(reader, 1)):
        data += part
    return bytes(data)


def _set_limits(limits: dict[str, float]) -> None:
    if sys.platform == "win32":
        # The job and the watchers outside are all there is.
        return
    import resource

    # What importing torch has used so far is not the submission's.
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + limits["total_s"]) + 2
    scratch = int(limits["scratch_mib"]) << 20
    for which, bound in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, scratch),
        (resource.RLIMIT_CORE, 0),
        # Counts all that the user runs, hence what runs already is in it; root has no limit.
        (resource.RLIMIT_NPROC, int(limits["tasks"])),
    ):
        _, ceiling = resource.getrlimit(which)
        if ceiling != resource.RLIM_INFINITY:
            bound = min(bound, ceiling)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(which, (bound, ceiling))
