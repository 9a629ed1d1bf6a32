"""The parts of a screen that tell what is wrong with the file as such."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grader.cli import grouping, places
from grader.cli.grouping import Report, Row
from grader.cli.layout import Line, wrap

if TYPE_CHECKING:
    from grader.cli.screen import Shown, Style

MOST: Final = 3


def before(reports: Sequence[Report], shown: "Shown", style: "Style") -> list[Line | str]:
    """What may be why points were lost: it stands above the losses."""
    found = grouping.explaining(reports)
    return _section(found, style.say(f"problems_{shown.kind}"), shown, style) if found else []


def after(reports: Sequence[Report], shown: "Shown", style: "Style") -> list[Line | str]:
    """What only was noticed: it stands below the losses, what concerns a platform in one line."""
    found = grouping.asides(reports)
    if not found:
        return []
    lost = any(grouping.lost(report) for report in reports)
    # What is there on this machine may be missing on the one that counts.
    risky = any(each["kind"] == "package" for each in found)
    heading = style.say("asides" if lost or risky else "asides_free")
    loud = [each for each in found if each["kind"] not in grouping.QUIET]
    return [
        *_section(loud, heading, shown, style),
        *_quiet(found, style),
    ]


def _section(
    found: Sequence[Row], heading: str, shown: "Shown", style: "Style"
) -> list[Line | str]:
    rows: list[Line | str] = ["", heading, ""]
    for problem in found[: most(style)]:
        head = places.quoted({**problem["message"]["args"], **problem}, shown.quotes, style)
        rows += wrap(head, first="  ", width=style.width) if head else []
        indent = "      " if head else "  "
        rows += wrap(
            problem["message"][style.language], first=indent, rest=indent, width=style.width
        )
    return [*rows, *more(found, style, indent="  ")]


def _quiet(found: Sequence[Row], style: "Style") -> list[str]:
    """One line for all that only concerns a platform, one for each other quiet problem."""
    told = [each["message"][style.language] for each in found if each["kind"] == "package"]
    foreign = [each for each in found if each["kind"] == "platform"]
    if foreign:
        told.insert(0, _platforms(foreign, style))
    return [row for each in told for row in wrap(each, first="  ", rest="  ", width=style.width)]


def _platforms(found: Sequence[Row], style: "Style") -> str:
    names = dict.fromkeys(str(each["message"]["args"]["platform"]) for each in found)
    stop = "；" if style.language == "zh" else "; "
    return style.say(
        "platform_one" if len(found) == 1 else "platform_many",
        count=len(found),
        platforms=style.listed([*names]),
        places=stop.join(places.place(each, style) for each in found),
    )


def most(style: "Style") -> int | None:
    """How many losses, or problems, are told before the rest is counted; None: all of them."""
    return None if style.everything else MOST


def more(items: Sequence[object], style: "Style", *, indent: str) -> list[str]:
    """The line that counts what is not told."""
    untold = 0 if style.everything else len(items) - MOST
    return ["", indent + style.say("and_more", count=untold)] if untold > 0 else []
