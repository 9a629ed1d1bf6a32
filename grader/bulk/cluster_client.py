"""The client's side of a cluster: the scheduler is found, its workers are looked at."""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any

import dask
from distributed import Client, Security
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.core import connect
from distributed.comm.registry import backends

from grader.bulk import cluster_terms, cluster_worker
from grader.bulk.cluster_terms import ClusterFailed, Fitness, Terms

# How long to wait: for an answer of the scheduler, for the first worker, for another worker after
# the last one is gone (a batch system may take a while to start it), for the client's end.
CONNECT_S = 10.0
FIRST_WORKER_S = 60.0
NO_WORKER_S = 300.0
END_S = 10.0
_LOOK_EVERY_S = 2.0


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
    except TypeError as error:
        raise ClusterFailed("no_certificates", address=address) from error
    except (OSError, ValueError, RuntimeError) as error:
        why = cluster_terms.reason(error)
        raise ClusterFailed("unreachable", address=address, reason=why) from error
    try:
        yield client
    finally:
        _closed(client)


@contextlib.contextmanager
def prepared(client: Client, terms: Terms, address: str) -> Iterator[str]:
    """The name of the plugin by which every worker has a judge; all of them were tried.

    Raises:
        ClusterFailed: there is no worker, or one that does not fit.
    """
    _await_worker(client, address)
    name = f"torchgrade-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        with _lost(address):
            # Before the plugin: of one that cannot be set up, Dask does not say where.
            compared = client.run(cluster_worker.compared, terms, on_error="return")
            _refuse_unfit(compared, terms, address)
            client.register_plugin(cluster_worker.JudgePlugin(terms), name=name)
            stack.callback(_taken_away, client, name)
            tried = client.run(cluster_worker.tried, name, on_error="return")
            _refuse_unfit(tried, terms, address)
        yield name


class Workers:
    """How many there are."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.address = address
        self.number = 0
        self.looked, self.seen = 0.0, time.monotonic()
        self.look()

    def look(self) -> None:
        """Count again, when that was a while ago.

        Raises:
            ClusterFailed: the scheduler is gone, or there has been no worker for long.
        """
        now = time.monotonic()
        if now - self.looked < _LOOK_EVERY_S:
            return
        with _lost(self.address):
            self.number = len(self.client.nthreads())
        self.looked = now
        if self.number:
            self.seen = now
        elif now - self.seen > NO_WORKER_S:
            raise ClusterFailed("no_worker_left", address=self.address, seconds=int(NO_WORKER_S))


# --- below ---------------------------------------------------------------------------------


async def _tried(address: str) -> None:
    arguments = Security().get_connection_args("client")
    comm = await connect(address, timeout=CONNECT_S, **arguments)
    await comm.close()


def _await_worker(client: Client, address: str) -> None:
    with _lost(address):
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER_S)
        except TimeoutError as error:
            seconds = int(FIRST_WORKER_S)
            raise ClusterFailed("no_worker", address=address, seconds=seconds) from error


@contextlib.contextmanager
def _lost(address: str) -> Iterator[None]:
    """What a client raises whose scheduler is gone, in one sentence."""
    try:
        yield
    # One that has closed meanwhile misses parts of itself.
    except (OSError, RuntimeError, AttributeError) as error:
        raise ClusterFailed("lost", address=address, reason=cluster_terms.reason(error)) from error


def _taken_away(client: Client, plugin: str) -> None:
    if client.status == "running":
        with contextlib.suppress(Exception):
            client.unregister_worker_plugin(plugin)


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


def _closed(client: Client) -> None:
    with contextlib.suppress(TimeoutError, OSError):
        client.close(timeout=END_S)
