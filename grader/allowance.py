"""A report stays short, however much a submission says: its words share one allowance.

Every test and every cell can bring a message of thousands of characters, in two languages and
once more in its arguments. Each is cut to a fixed size already; here all of them together are.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grader.claims import cut

# Bytes as they are written: one Chinese character takes six, one escape up to twelve.
ALLOWANCE: Final = 128 * 1024
# The longest at which everything fits is taken; the last one in any case.
_LONGEST: Final = (4096, 2048, 1024, 512, 256, 128, 64)
# The screen shows as many losses; their messages are what a student works with.
_WHOLE: Final = 3
_LOSSES: Final = ("failed", "errored", "not_run", "not_done")
_SAYING: Final = ("message", "detail", "cell_id", "quote")


def shortened(report: Mapping[str, Any]) -> dict[str, Any]:
    """The report, its long messages cut to head and tail where they exceed the allowance.

    All are cut at the same length, so that equal messages stay equal and neither order nor
    machine matters. Whole are, in any case, the messages of the first three different losses.
    """
    whole = _first_losses(report["criteria"])
    rows = [
        row
        for key in ("criteria", "tests", "problems")
        for row in report[key]
        if not (key == "criteria" and row["message"] in whole)
    ]
    taken = sum(_bytes(each["message"]) for each in report["criteria"] if each["message"] in whole)
    room = max(ALLOWANCE - taken, ALLOWANCE // 4)
    fits = (
        longest
        for longest in _LONGEST
        if sum(_bytes(_cut(_said(row), longest)) for row in rows) <= room
    )
    longest = next(fits, _LONGEST[-1])
    return {
        **report,
        "criteria": [
            row if row["message"] in whole else _row(row, longest) for row in report["criteria"]
        ],
        "tests": [_row(row, longest) for row in report["tests"]],
        "problems": [_row(row, longest) for row in report["problems"]],
    }


def _first_losses(criteria: list[dict[str, Any]]) -> list[Any]:
    """The messages of the first losses as a screen orders them, each once."""
    found: list[Any] = []
    for verdict in _LOSSES:
        for row in criteria:
            if row["verdict"] == verdict and row["message"] and row["message"] not in found:
                found.append(row["message"])
    return found[:_WHOLE]


def _row(row: Mapping[str, Any], longest: int) -> dict[str, Any]:
    cut_down = _cut(_said(row), longest)
    if row["message"] is not None:
        cut_down["message"] = {**row["message"], **cut_down["message"]}
    return {**row, **cut_down}


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is in the row in a submission's words, or may be."""
    said = {key: row[key] for key in _SAYING if key in row}
    if row["message"] is not None:
        # The code is the grader's, and programs look for it.
        said["message"] = {key: row["message"][key] for key in ("args", "en", "zh")}
    return said


def _cut(value: Any, longest: int) -> Any:
    match value:
        case str():
            return cut(value, longest)
        case list():
            return [_cut(each, longest) for each in value]
        case dict():
            return {key: _cut(each, longest) for key, each in value.items()}
        case _:
            return value


def _bytes(value: object) -> int:
    return sum(len(json.dumps(text)) for text in _texts(value))


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for each in value.values():
                yield from _texts(each)
