"""How a judge's process begins: with its bench, so that torch loads in both at once."""

import contextlib
import gc
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from grader.sandbox import command_line, forked, launch, portable, scratch
from grader.sandbox.link import Bench


def main(folder: str, sandbox: str, per_fork: int, preload: tuple[str, ...] = ()) -> None:
    """Judge the orders on stdin until it closes.

    Args:
        folder: empty and private; workers get a folder below it.
        sandbox: `auto`, `full` or `portable`.
        per_fork: how many submissions a fork of the judge takes; 0: it does not fork.
        preload: packages that are imported once for all workers, where these are forked.
    """
    command_line.forget("torchgrade-judge")
    orders, answers = os.dup(0), os.dup(1)
    # Expected values are here.
    launch.hide()
    # Whatever prints here by mistake must not look like an answer.
    os.dup2(2, 1)

    def abandoned() -> None:
        # Nobody waits for the verdicts: the bench ends with this process, the folder with it.
        _remove(Path(folder))
        os._exit(4)

    def opened() -> Bench:
        private = tempfile.mkdtemp(prefix="torchgrade-", dir=Path(folder) / "bench")
        return open_bench(sandbox, Path(private), orders, abandoned, alone=True, preload=preload)

    bench = opened()
    # Only now: this imports torch and pytest, while the bench does the same.
    from grader.suite import benches, judge

    # Off since the start, see `launch.command`.
    gc.freeze()
    gc.enable()
    judge.serve(benches.Benches(bench, opened), orders, answers, per_fork=per_fork)
    # Whoever asked may have been killed between two orders: nobody else would remove it then.
    _remove(Path(folder))
    # Taking torch down in an orderly way takes longer than judging a submission.
    os._exit(0)


def open_bench(
    sandbox: str,
    folder: Path,
    lifeline: int,
    on_abandoned: Callable[[], None],
    *,
    alone: bool = False,
    preload: tuple[str, ...] = (),
) -> Bench:
    """The way to get workers on this platform; `alone` as in `PortableBench`, `preload` as in
    `ForkedBench`: a worker that is a process of its own imports what it needs itself.
    """
    if sandbox != "portable" and forked.available():
        return forked.ForkedBench(folder, lifeline, on_abandoned, preload=preload)
    return portable.PortableBench(folder, lifeline, on_abandoned, alone=alone)


def _remove(folder: Path) -> None:
    """Remove the private folder, however deep a submission made it."""
    with contextlib.suppress(OSError):
        scratch.remove(folder)
