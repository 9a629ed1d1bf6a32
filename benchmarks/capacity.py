"""Writes what was measured into the page on capacity.

    python benchmarks/capacity.py FIGURES.json

FIGURES.json is what `run.py --json` wrote. Only the part of docs/capacity.md between the two
comments is replaced.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "capacity.md"
BEGIN = "<!-- measured: written by benchmarks/capacity.py -->"
END = "<!-- end of what was measured -->"
CAPACITY = "capacity-"
CLASS, MOOC, MILLION = 500, 100_000, 1_000_000


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0 when the page was written."""
    if len(arguments) != 1:
        print("usage: python benchmarks/capacity.py FIGURES.json", file=sys.stderr)
        return 2
    figures = json.loads(Path(arguments[0]).read_text("utf-8"))
    PAGE.write_text(filled(PAGE.read_text("utf-8"), figures), "utf-8")
    return 0


def filled(page: str, figures: Mapping[str, Any]) -> str:
    """The page with the figures between its two comments.

    Raises:
        SystemExit: there is nothing in the figures, or no place on the page.
    """
    before, begun, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not (begun and ended):
        raise SystemExit("the page has no place for what was measured")
    rows = [each for each in figures["rows"] if each["name"].startswith(CAPACITY)]
    if not rows:
        raise SystemExit("the figures hold no rows capacity-…: run.py --only capacity --json PATH")
    lines = [*_capacity(rows, figures), *_ratios(figures["rows"])]
    return f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}"


def _capacity(rows: Sequence[Mapping[str, Any]], figures: Mapping[str, Any]) -> Iterator[str]:
    python = ".".join(figures["python"].split(".")[:2])
    most = {key: max(each["figures"][key] for each in rows) for key in rows[0]["figures"]}
    cores = figures["cores"]
    yield (
        f"Measured on {cores} cores with torch {figures['torch']} (CPU) and Python {python}:"
        f" {most['submissions']} submissions of each assignment, {most['jobs']} jobs. Start-up took"
        f" {most['start_s']:.1f} s at most, all processes together held {most['peak_memory_mib']:,}"
        " MiB of memory at most."
    )
    yield ""
    yield (
        "| assignment | a core is held for | of which computing | submissions per core-hour"
        f" | {CLASS} on {cores} cores | {MOOC:,}, core-hours | {MILLION:,}, core-hours |"
    )
    yield "|---|---|---|---|---|---|---|"
    yield from (_row(each, cores) for each in rows)


def _row(row: Mapping[str, Any], cores: int) -> str:
    core_s = row["measured_ms"] / 1000
    class_s = row["figures"]["start_s"] + core_s * CLASS / cores
    return (
        f"| {row['figures']['assignment']} | {row['measured_ms']:.0f} ms"
        f" | {row['yardstick_ms']:.0f} ms | {3600 / core_s:,.0f} | {class_s:.0f} s"
        f" | {core_s * MOOC / 3600:.1f} | {core_s * MILLION / 3600:.0f} |"
    )


def _ratios(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    held = [each for each in rows if each["budget"] is not None]
    if not held:
        return
    yield from ("", "The budgets:", "")
    yield from ("| what | ratio | budget | over |", "|---|---|---|---|")
    for each in held:
        missed = "" if each["kept"] else " (missed)"
        yield (
            f"| `{each['name']}` | {each['ratio']:.2f}{missed} | {each['sense']}"
            f" {each['budget']:g} | {each['note'] or str(each['pairs']) + ' pairs'} |"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
