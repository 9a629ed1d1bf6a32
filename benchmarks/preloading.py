"""What `import matplotlib` costs a submission where the course names it: one with it, one without.

Each submission is a worker of its own, from its fork to its end, of a zygote that has imported
matplotlib before. Both run in turn, so that a busy machine weighs on both; the ratio is that of
the medians. Beside it stands the same submission in a zygote that has not.
"""

import importlib.util
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from benchmarks.measuring import Benchmark, Broken, Result, Row, Skipped, Wanted, milliseconds
from grader.model import Limits, Returned, Source
from grader.sandbox.forked import ForkedBench
from grader.sandbox.link import Output
from grader.sandbox.session import Session
from grader.submission import read, understand

NAME, LIBRARY = "preloaded", "matplotlib"
BUDGET = 1.5
FUNCTION = "import torch\n\n\ndef doubled(x):\n    return x * 2\n"
PLOTTING = f"import {LIBRARY}.pyplot as plt\n" + FUNCTION


def benchmarks() -> Iterator[Benchmark]:
    """One."""
    about = f"a submission that imports {LIBRARY}, as the course says, against one that does not"
    yield Benchmark(name=NAME, about=about, run=_run)


def _run(wanted: Wanted) -> list[Result]:
    if importlib.util.find_spec(LIBRARY) is None:
        return [Skipped(name=NAME, reason=f"{LIBRARY} is not installed")]
    plain, plotting = (_source(wanted.folder, text) for text in (FUNCTION, PLOTTING))
    count = wanted.pairs or (100 if wanted.full else 30)
    times: tuple[list[float], list[float]] = ([], [])
    with _bench(LIBRARY) as bench:
        for turn in range(count + 3):
            for source, kept in zip((plotting, plain), times, strict=True):
                took = milliseconds(lambda one=source: grade(bench, one))
                # The first ones fill caches.
                if turn >= 3:
                    kept.append(took)
    with _bench() as cold:
        unnamed_ms = statistics.median(milliseconds(lambda: grade(cold, plotting)) for _ in "123")
    with_ms, without_ms = map(statistics.median, times)
    return [
        Row(
            name=NAME,
            ratio=with_ms / without_ms,
            budget=BUDGET,
            measured_ms=with_ms,
            yardstick_ms=without_ms,
            pairs=count,
            note=f"{unnamed_ms:.0f} ms where the course does not name it",
            figures={"unnamed_ms": unnamed_ms},
        )
    ]


def _source(folder: Path, text: str) -> Source:
    path = folder / f"{len(text)}.py"
    path.write_text(text, "utf-8")
    source = understand(read(path)).source
    if source is None:
        raise Broken("the submission cannot be read")
    return source


@contextmanager
def _bench(*preload: str) -> Iterator[ForkedBench]:
    lifeline, held = os.pipe()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        made = ForkedBench(Path(folder), lifeline, sys.exit, preload=preload)
        try:
            made.await_ready()
            yield made
        finally:
            made.close()
            os.close(lifeline)
            os.close(held)


def grade(bench: ForkedBench, source: Source) -> None:
    """A worker from its fork to its end; a submission that does not work stops the benchmark."""
    limits = Limits(load_s=60.0, total_s=120.0)
    session = Session(bench=bench, source=source, limits=limits, output=Output(64))
    try:
        seen = session.call("doubled", (torch.ones(2, 3),))
    finally:
        session.close()
    if not isinstance(seen, Returned) or session.troubles:
        raise Broken(f"the submission did not work: {seen} {session.troubles}")
