"""A cluster of our own on this machine, which ends with the command and leaves nothing.

Scheduler and nannies run in this process, workers in processes that Dask starts by `spawn` and
starts again when they die. They end with this process, however that ends.
"""

import contextlib
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker

import dask
from distributed import LocalCluster, Security

from grader.bulk.cluster_terms import ClusterFailed

END_S = 10.0
# A worker that dies is replaced at once here, and what kills it is found sooner than by Dask's
# usual four deaths.
_DEATHS = 1


@contextlib.contextmanager
def own_cluster(workers: int, *, debug: bool) -> Iterator[str]:
    """The address of a scheduler on loopback with that many workers.

    Raises:
        ClusterFailed: they cannot be started.
    """
    folder = tempfile.mkdtemp(prefix="torchgrade-dask-")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.enter_context(_unaffected())
        own = {"distributed.scheduler.allowed-failures": _DEATHS, "temporary-directory": folder}
        stack.enter_context(dask.config.set(own))
        with _undisturbed():
            cluster = _local_cluster(workers, folder, debug=debug)
            stack.callback(_closed, cluster)
        yield str(cluster.scheduler_address)


@contextlib.contextmanager
def _unaffected() -> Iterator[None]:
    """Workers that are started meanwhile import nothing from the current folder.

    Dask's processes begin with `python -c`, which searches there first: a `json.py` beside a
    submission would be run, and not as a submission.
    """
    kept = {name: os.environ.get(name) for name in ("PYTHONSAFEPATH", "PYTHONPATH")}
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ.pop("PYTHONPATH", None)
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _closed(cluster: LocalCluster) -> None:
    with contextlib.suppress(TimeoutError, OSError):
        cluster.close(timeout=END_S)


def _local_cluster(workers: int, folder: str, *, debug: bool) -> LocalCluster:
    try:
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            protocol="tcp://",
            security=Security(require_encryption=False),
            dashboard_address=None,
            local_directory=folder,
            # The judges' processes have limits of their own.
            memory_limit=None,
            silence_logs=logging.WARNING if debug else logging.CRITICAL,
        )
    except (OSError, RuntimeError) as error:
        raise ClusterFailed("no_local", reason=str(error)) from error


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM have effect afterwards: half a cluster cannot be ended.

    Ctrl-C is blocked for the threads that are started meanwhile, and so for the processes that
    they start, which get it from the terminal, too, and would print how it killed them.
    """
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    # It would unblock what is blocked here, when it is started by one of those threads.
    resource_tracker.ensure_running()
    ended: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        try:
            for number in ended[:1]:
                signal.raise_signal(number)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
