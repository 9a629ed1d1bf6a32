"""The client's side of a cluster: found or started, its workers looked at, and left as it was."""

import asyncio
import contextlib
import logging
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any

import dask
from distributed import Client, LocalCluster, Security
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.core import connect
from distributed.comm.registry import backends

from grader.bulk import cluster_terms, cluster_worker
from grader.bulk.cluster_terms import ClusterFailed, Fitness, Terms

# How long to wait: for an answer of the scheduler, for the first worker, for another worker after
# the last one is gone (a batch system may take a while to start it), for the end of our own.
CONNECT_S = 10.0
FIRST_WORKER_S = 60.0
NO_WORKER_S = 300.0
END_S = 10.0
_LOOK_EVERY_S = 2.0
# A worker that dies is replaced at once here, and what kills it is found sooner than by Dask's
# usual four deaths.
_DEATHS = 1


def address_problem(address: str) -> str | None:
    """Why this cannot be the address of a scheduler, None where it can."""
    try:
        scheme, _ = parse_address(address)
        _, port = parse_host_port(address)
    except ValueError as error:
        return str(error)
    if scheme not in backends:
        return f"{scheme}:// is none of {', '.join(sorted(backends))}"
    return None if 0 < port < 1 << 16 else f"{port} is no port"


def is_guarded(address: str) -> bool:
    """Whether only who holds a certificate can talk to this scheduler."""
    return bool(parse_address(address)[0] == "tls")


@contextlib.contextmanager
def quiet(*, debug: bool) -> Iterator[None]:
    """Dask configured for this run; it writes to no terminal unless somebody debugs.

    What goes wrong is told by this side, in one sentence, and not by every library on the way.
    """
    own = {
        "distributed.comm.timeouts.connect": CONNECT_S,
        # Chunks hold the code of the submissions, and are large for that reason alone.
        "distributed.admin.large-graph-warning-threshold": "1GB",
    }
    before = logging.root.manager.disable
    if not debug:
        logging.disable(logging.CRITICAL)
    try:
        with dask.config.set(own):
            yield
    finally:
        logging.disable(before)


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
        try:
            cluster = LocalCluster(
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
        stack.callback(_ended, cluster)
        yield str(cluster.scheduler_address)


@contextlib.contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler.

    Raises:
        ClusterFailed: nothing that is a scheduler answers there in time.
    """
    try:
        # A client that cannot connect prints its own end; so the address is tried without one.
        asyncio.run(_tried(address))
        client = Client(
            address,
            timeout=CONNECT_S,
            set_as_default=False,
            # Results come by way of the scheduler: the client need not reach the workers.
            direct_to_workers=False,
            name="torchgrade",
        )
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error.__cause__ or error)
        raise ClusterFailed("unreachable", address=address, reason=reason) from error
    try:
        yield client
    finally:
        _ended(client)


@contextlib.contextmanager
def prepared(client: Client, terms: Terms, address: str) -> Iterator[str]:
    """The name of the plugin by which every worker has a judge; all of them were tried.

    Raises:
        ClusterFailed: there is no worker, or one that does not fit.
    """
    _await_worker(client, address)
    name = f"torchgrade-{secrets.token_hex(8)}"
    try:
        # Before the plugin: of one that cannot be set up, Dask does not say where.
        found = client.run(cluster_worker.compared, terms, on_error="return")
        _refuse_unfit(found, terms, address)
        client.register_plugin(cluster_worker.JudgePlugin(terms), name=name)
    except OSError as error:
        raise ClusterFailed("lost", address=address, reason=str(error)) from error
    try:
        _refuse_unfit(client.run(cluster_worker.tried, name, on_error="return"), terms, address)
        yield name
    finally:
        if client.status == "running":
            with contextlib.suppress(Exception):
                client.unregister_worker_plugin(name)


class Workers:
    """How many there are."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.address = address
        self.number = _number(client)
        self.looked = self.seen = time.monotonic()

    def look(self) -> None:
        """Count again, when that was a while ago.

        Raises:
            ClusterFailed: the scheduler is gone, or there has been no worker for long.
        """
        now = time.monotonic()
        if now - self.looked < _LOOK_EVERY_S:
            return
        try:
            self.number = _number(self.client)
        # A client that has closed raises what belongs to its missing parts.
        except (OSError, RuntimeError, AttributeError) as error:
            raise ClusterFailed("lost", address=self.address, reason=str(error)) from error
        self.looked = now
        if self.number:
            self.seen = now
        elif now - self.seen > NO_WORKER_S:
            raise ClusterFailed("no_worker_left", address=self.address, seconds=int(NO_WORKER_S))


# --- below ---------------------------------------------------------------------------------


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


async def _tried(address: str) -> None:
    arguments = Security().get_connection_args("client")
    comm = await connect(address, timeout=CONNECT_S, **arguments)
    await comm.close()


def _await_worker(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER_S)
    except TimeoutError as error:
        raise ClusterFailed("no_worker", address=address, seconds=int(FIRST_WORKER_S)) from error
    except OSError as error:
        raise ClusterFailed("lost", address=address, reason=str(error)) from error


def _refuse_unfit(found: Mapping[str, Any], terms: Terms, address: str) -> None:
    for worker, each in sorted(found.items()):
        match each:
            case Fitness():
                cluster_terms.refuse_unfit(each, terms, address=address)
            case OSError():
                # It died meanwhile; whatever comes in its place is tried by its first chunk.
                continue
            case _:
                reason = f"{type(each).__name__}: {each}"
                raise ClusterFailed("strange", worker=worker, reason=reason)


def _number(client: Client) -> int:
    return len(client.nthreads())


def _ended(process: Client | LocalCluster) -> None:
    with contextlib.suppress(TimeoutError, OSError):
        process.close(timeout=END_S)
