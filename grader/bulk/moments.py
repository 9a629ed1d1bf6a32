"""Points in time as exports write them, as ISO 8601 in UTC."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from unicodedata import normalize
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
# How the names of the months begin in the languages of course sites; longer ones first.
_MONTHS: Final = (
    *(("juin", 6), ("juil", 7), ("jan", 1), ("gen", 1), ("ene", 1), ("feb", 2), ("fév", 2)),
    *(("fev", 2), ("mar", 3), ("mär", 3), ("mrt", 3), ("maa", 3), ("apr", 4), ("avr", 4)),
    *(("abr", 4), ("may", 5), ("mai", 5), ("mag", 5), ("mei", 5), ("jun", 6), ("giu", 6)),
    *(("jul", 7), ("lug", 7), ("aug", 8), ("aoû", 8), ("ago", 8), ("sep", 9), ("set", 9)),
    *(("oct", 10), ("okt", 10), ("ott", 10), ("out", 10), ("nov", 11), ("dec", 12), ("dez", 12)),
    *(("déc", 12), ("dic", 12)),
)
_BEFORE_NOON = re.compile(r"(?<![a-z])a\.? ?m\.?(?![a-z])|上午|凌晨|早上|午前|오전")
_AFTER_NOON = re.compile(r"(?<![a-z])p\.? ?m\.?(?![a-z])|下午|晚上|午後|오후")


def wall_clock(text: str) -> str:
    """`2026-03-01T21:26:00` of `Mar 1, 2026 926 PM`, `1. März 2026 2126` and `2026年3月1日 2126`.

    It has no time zone. Empty for what can be read in two ways, or not at all.
    """
    plain = normalize("NFKC", text).lower()
    numbers = [int(each) for each in re.findall(r"\d{1,4}", plain)]
    words = re.findall(r"[^\W\d_]+", plain)
    months = {month for word in words if (month := _month(word)) is not None}
    dated = 2 if months else 3
    if len(months) > 1 or not dated < len(numbers) <= dated + 3:
        return ""
    date, time = _date(numbers[:dated], months, plain), numbers[dated:]
    hour, minute = divmod(time[0], 100) if len(time) == 1 else (time[0], time[1])
    if _AFTER_NOON.search(plain):
        hour += 12 if hour < 12 else 0
    elif _BEFORE_NOON.search(plain) and hour == 12:
        hour = 0
    try:
        return datetime(*date, hour, minute).isoformat() if date else ""
    except ValueError:
        return ""


def _month(word: str) -> int | None:
    return next((month for start, month in _MONTHS if word.startswith(start)), None)


def _date(numbers: list[int], months: set[int], text: str) -> tuple[int, int, int] | None:
    """(year, month, day), or None where it is open which number is which."""
    if months:
        year, day = sorted(numbers, reverse=True)
        return year, next(iter(months)), day
    first, second, third = numbers
    if first > 31:
        return first, second, third
    if second > 12:
        return third, first, second
    is_day_first = first > 12 or re.match(r"\d+\. ?\d", text) is not None
    return (third, second, first) if is_day_first else None


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
