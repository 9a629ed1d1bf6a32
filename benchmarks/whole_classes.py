"""Whole classes through `grade batch`: large against small, two judges against one, and others."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import classes
from benchmarks.batches import Batch, grade_command, graded
from benchmarks.measuring import Benchmark, Result, Row, Skipped, Wanted, cores

# What a large class may cost per submission, against a small one; and the memory over time.
GROWTH_BUDGET, MEMORY_BUDGET = 1.1, 1.05
GROWING = ("hw1", "hw4")
ID = "hw4"
# Enough for every judge to have begun.
FEW = 4


def benchmarks() -> Iterator[Benchmark]:
    """Growth, jobs, notebooks, Dask, and the rate of each assignment."""
    for id in GROWING:
        yield Benchmark(
            name=f"class-{id}",
            about=f"2,000 submissions of {id} against 200: cost of each, and memory over time",
            run=_growing(id),
        )
    yield Benchmark(name="jobs", about="two judges against one, for the same class", run=_jobs)
    yield Benchmark(name="notebooks", about="notebooks against scripts", run=_notebooks)
    yield Benchmark(name="dask", about="`--engine dask` against the local engine", run=_dask)
    for id in classes.known():
        yield Benchmark(
            name=f"capacity-{id}",
            about=f"submissions of {id} per core-hour, all cores at work",
            run=_capacity(id),
        )


# --- growth ------------------------------------------------------------------------------------


def _growing(id: str) -> Callable[[Wanted], list[Row]]:
    def run(wanted: Wanted) -> list[Row]:
        few, many = (200, 2000) if wanted.full else (40, 200)
        # The files of both are in the cache then.
        _class(wanted, id, FEW, cores(), "warm")
        small = _class(wanted, id, few, cores(), "small")
        large = _class(wanted, id, many, cores(), "large")
        return [_cost(id, small, large), _marginal(id, large), _memory(id, large)]

    return run


def _cost(id: str, small: Batch, large: Batch) -> Row:
    return Row(
        name=f"class-{id}",
        ratio=_each_ms(large) / _each_ms(small),
        budget=GROWTH_BUDGET,
        measured_ms=_each_ms(large),
        yardstick_ms=_each_ms(small),
        note=f"{large.submissions} against {small.submissions}, with start-up",
        figures={"small": _figures(small), "large": _figures(large)},
    )


def _marginal(id: str, large: Batch) -> Row:
    """Start-up left out: the last quarter of one batch against its first."""
    quarter = max(1, len(large.finished_s) // 4)
    first = (large.finished_s[quarter] - large.finished_s[0]) / quarter * 1000
    return Row(
        name=f"class-{id}-later",
        ratio=large.slowing,
        budget=GROWTH_BUDGET,
        measured_ms=first * large.slowing,
        yardstick_ms=first,
        note=f"the last quarter of {large.submissions} against the first",
    )


def _memory(id: str, large: Batch) -> Row:
    return Row(
        name=f"class-{id}-memory",
        ratio=large.memory_growth,
        budget=MEMORY_BUDGET,
        note=f"of all processes, last quarter against first; peak {_peak(large):.0f} MiB",
        figures={"memory_mib": [round(each, 1) for each in large.memory_mib]},
    )


# --- ways to grade -------------------------------------------------------------------------------


def _jobs(wanted: Wanted) -> list[Result]:
    if cores() < 2:
        return [Skipped(name="jobs", reason="there is one core only")]
    count = 200 if wanted.full else 60
    one = _class(wanted, ID, count, 1, "one")
    two = _class(wanted, ID, count, 2, "two")
    return [_row("jobs", two, one, f"{count} of {ID}, 2 jobs against 1")]


def _notebooks(wanted: Wanted) -> list[Row]:
    count = 200 if wanted.full else 60
    scripts = _class(wanted, ID, count, 1, "scripts")
    folder = wanted.folder / "notebooks"
    classes.written(
        folder, ID, classes.gallery(classes.known()[ID]), count, classes.notebook, ".ipynb"
    )
    notebooks = graded(folder, wanted.folder / "notebooks.out", "--assignment", ID, jobs=1)
    return [_row("notebooks", notebooks, scripts, f"{count} of {ID}, the same code")]


def _dask(wanted: Wanted) -> list[Result]:
    told = subprocess.run([grade_command(), "batch", "--help"], capture_output=True, check=True)
    if b"--engine" not in told.stdout:
        return [Skipped(name="dask", reason="`grade batch` has no --engine")]
    if not _installed("distributed"):
        return [Skipped(name="dask", reason="distributed is not installed")]
    count = 200 if wanted.full else 60
    local = _class(wanted, ID, count, cores(), "local")
    dask = _class(wanted, ID, count, cores(), "dask", "--engine", "dask")
    return [_row("dask", dask, local, f"{count} of {ID}, {cores()} jobs")]


def _installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def _row(name: str, measured: Batch, yardstick: Batch, note: str) -> Row:
    return Row(
        name=name,
        ratio=_each_ms(measured) / _each_ms(yardstick),
        measured_ms=_each_ms(measured),
        yardstick_ms=_each_ms(yardstick),
        note=note,
        figures={"measured": _figures(measured), "yardstick": _figures(yardstick)},
    )


# --- capacity ------------------------------------------------------------------------------------


def _capacity(id: str) -> Callable[[Wanted], list[Row]]:
    def run(wanted: Wanted) -> list[Row]:
        # What both have in common is start-up, and the files of both are in the cache then.
        few = _class(wanted, id, FEW, cores(), "few")
        batch = _class(wanted, id, 500 if wanted.full else 60, cores(), "capacity")
        held_s = batch.steady_s * batch.jobs
        used_s = (batch.cpu_s - few.cpu_s) / (batch.submissions - few.submissions)
        start_s = batch.wall_s - batch.finished_s[-1]
        return [
            Row(
                name=f"capacity-{id}",
                ratio=held_s / used_s,
                measured_ms=held_s * 1000,
                yardstick_ms=used_s * 1000,
                note=f"{3600 / held_s:,.0f} per core-hour; a core held against used",
                figures={"assignment": id, "start_s": round(start_s, 2), **_figures(batch)},
            )
        ]

    return run


# --- a class -------------------------------------------------------------------------------------


def _class(
    wanted: Wanted, id: str, count: int, jobs: int, name: str, *options: str | Path
) -> Batch:
    """A class of the gallery, graded into a folder of its own."""
    folder, out = wanted.folder / f"{name}-{id}", wanted.folder / f"{name}-{id}.out"
    classes.written(folder, id, classes.gallery(classes.known()[id]), count)
    every_s = 1.0 if wanted.full else 0.25
    return graded(folder, out, "--assignment", id, *options, jobs=jobs, every_s=every_s)


def _each_ms(batch: Batch) -> float:
    return batch.wall_s / batch.submissions * 1000


def _peak(batch: Batch) -> float:
    return max(batch.memory_mib, default=0.0)


def _figures(batch: Batch) -> dict[str, object]:
    return {
        "submissions": batch.submissions,
        "jobs": batch.jobs,
        "wall_s": round(batch.wall_s, 2),
        "cpu_s": round(batch.cpu_s, 2),
        "peak_memory_mib": round(_peak(batch)),
    }
