"""rubric.toml, read strictly into criteria."""

from collections.abc import Mapping, Sequence

from grader.model import Criterion, Text
from grader.strict import Value, did_you_mean, shown

_ID = r"[a-z][a-z0-9_-]{0,63}"
_ID_WORDS = "lower-case letters, digits, - and _, a letter first, at most 64"
_MOST_POINTS = 1_000_000


def read_criteria(
    rubric: Value, assignment: str, functions: Sequence[str] | None
) -> tuple[Criterion, ...]:
    """The lines of the rubric; names of functions are checked when those are known."""
    part = rubric.keys(required=("criteria",))
    items = part["criteria"].items(least=1) if "criteria" in part else []
    rows = [_row(item) for item in items]
    criteria = tuple(_criterion(row, assignment) for row in rows)
    ids = [each.id for each in criteria]
    for at, (row, criterion) in enumerate(zip(rows, criteria, strict=True)):
        if criterion.id and criterion.id in ids[:at]:
            row["id"].say(f"{shown(criterion.id)} is listed twice")
        if functions is not None:
            _known(row.get("entry_points"), functions, "entry point")
        _known(row.get("needs"), ids, "criterion")
    _refuse_circles(criteria, rows)
    return criteria


def title(part: Mapping[str, Value], code: str) -> Text:
    """The title in both languages; without a Chinese one the English stands in."""
    if "title" not in part:
        return Text(code=code, en="", zh="")
    languages = part["title"].keys(required=("en",), optional=("zh",))
    en = languages["en"].text() if "en" in languages else ""
    zh = languages["zh"].text() if "zh" in languages else en
    return Text(code=code, en=en, zh=zh)


def _row(item: Value) -> dict[str, Value]:
    return item.keys(required=("id", "points", "title", "entry_points"), optional=("needs",))


def _criterion(row: Mapping[str, Value], assignment: str) -> Criterion:
    id = row["id"].matching(_ID, _ID_WORDS) if "id" in row else ""
    points = row["points"].integer(least=0, most=_MOST_POINTS) if "points" in row else 0
    return Criterion(
        id=id,
        title=title(row, f"{assignment}.criterion.{id}"),
        points=points,
        entry_points=_distinct(row["entry_points"].items(least=1)) if "entry_points" in row else (),
        needs=_distinct(row["needs"].items()) if "needs" in row else (),
    )


def _distinct(items: Sequence[Value]) -> tuple[str, ...]:
    names: list[str] = []
    for item in items:
        name = item.text()
        if name and name in names:
            item.say(f"{shown(name)} is listed twice")
        names.append(name)
    return tuple(names)


def _known(listed: Value | None, known: Sequence[str], noun: str) -> None:
    if listed is None or not isinstance(listed.seen, list):
        return  # said already
    for item in listed.items():
        if isinstance(item.seen, str) and item.seen not in known:
            item.say(f"no {noun} {shown(item.seen)}{did_you_mean(item.seen, known)}")


def _refuse_circles(criteria: Sequence[Criterion], rows: Sequence[Mapping[str, Value]]) -> None:
    """Say of every criterion that it needs itself, directly or through others."""
    needs = {each.id: each.needs for each in criteria}
    for row, criterion in zip(rows, criteria, strict=True):
        circle = _way(criterion.id, criterion.id, needs)
        if circle and "needs" in row:
            row["needs"].say(f"goes in a circle: {' needs '.join(circle)}")


def _way(start: str, goal: str, needs: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The criteria on a way of needs from `start` back to `goal`, both included, or nothing."""
    ways = [[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        for need in needs.get(way[-1], ()):
            if need == goal:
                return [*way, goal]
            if need not in seen:
                seen.add(need)
                ways.append([*way, need])
    return []
