"""Points in time as exports write them, as ISO 8601 in UTC."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

# 2021-10-08 04:23:25.379020000 Z · 2015-02-02 15:58:23.948203 America/Los_Angeles ·
# 2026-03-01T23:59+08:00
_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[ T](?P<minute>\d\d:\d\d)(?P<second>:\d\d)?(?:\.\d+)?"
    r"\s*(?P<zone>Z|[+-]\d\d(?::?\d\d)?|[A-Za-z][A-Za-z0-9/_+-]{0,60})?",
    re.ASCII,
)


# What nobody handed in: a clock that was never set, or a date that somebody made up.
_FIRST_YEAR: Final = 1980
_LAST_YEAR: Final = 2199

# What `%Z` gives in nbgrader's time stamps: the hours ahead of UTC. Names that mean several zones
# (CST, IST, AST) are left out: a wrong guess is worse than none.
_ABBREVIATIONS: Final = {
    "GMT": 0,
    "WET": 0,
    "WEST": 1,
    "BST": 1,
    "CET": 1,
    "CEST": 2,
    "EET": 2,
    "EEST": 3,
    "MSK": 3,
    "EST": -5,
    "EDT": -4,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "AKST": -9,
    "AKDT": -8,
    "HST": -10,
    "JST": 9,
    "KST": 9,
    "HKT": 8,
    "SGT": 8,
    "AEST": 10,
    "AEDT": 11,
    "NZST": 12,
    "NZDT": 13,
    "SAST": 2,
    "PKT": 5,
    "WIB": 7,
}


def in_utc(text: str) -> str | None:
    """`2021-10-08T04:23:25Z`, or None for text that names no moment (a zone belongs to it)."""
    found = _MOMENT.fullmatch(text.strip().strip("'\""))
    try:
        zone = _zone(found["zone"] or "") if found else None
        if found is None or zone is None:
            return None
        moment = datetime.fromisoformat(
            f"{found['day']}T{found['minute']}{found['second'] or ':00'}"
        )
        if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
            return None
        there = moment.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
        # Not strftime, which writes the year 999 with three digits.
        return f"{there.isoformat(timespec='seconds')}Z"
    except (ValueError, OverflowError):
        return None


def _zone(name: str) -> tzinfo | None:
    if name in ("Z", "UTC"):
        return UTC
    if name[:1] in ("+", "-"):
        sign = -1 if name[0] == "-" else 1
        minutes = int(name[-2:]) if len(name) > 3 else 0
        return timezone(sign * timedelta(hours=int(name[1:3]), minutes=minutes))
    if name in _ABBREVIATIONS:
        return timezone(timedelta(hours=_ABBREVIATIONS[name]))
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, KeyError):
        return None
