"""Who handed in what, from the `submission_metadata.yml` of a Gradescope export."""

from grader.bulk.moments import in_utc
from grader.bulk.platforms import Named


def submitters_of(text: str) -> dict[str, tuple[Named, ...]]:
    """The submitters of each folder, from the text of `submission_metadata.yml`.

    Only two keys of each submission are handed to the YAML parser: the file also holds every
    result of every attempt, and parsing all of it takes minutes for a large class.
    """
    submissions: dict[str, tuple[Named, ...]] = {}
    folder, key = "", ""
    lines: list[str] = []
    for line in [*text.splitlines(), "end:"]:
        if line[:1].strip():
            if submitters := _submitters("\n".join(lines)):
                submissions[folder] = submitters
            folder, key, lines = line.rstrip().rstrip(":").strip("'\""), "", []
            continue
        # A list stands at the indentation of its key; everything else is deeper.
        if line.startswith("  ") and line[2:3].strip() and line[2] != "-":
            key = line.strip().partition(": ")[0].rstrip(":")
        if key in (":submitters", ":created_at"):
            lines.append(line)
    return submissions


def _submitters(text: str) -> tuple[Named, ...]:
    import yaml  # type: ignore[import-untyped,unused-ignore]

    try:
        # Only text comes out of this loader, whatever the tags say: `0012` stays `0012`.
        said = yaml.load(text, yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return ()
    if not isinstance(said, dict) or not isinstance(said.get(":submitters"), list):
        return ()
    moment = in_utc(str(said.get(":created_at", "")))
    people = [each for each in said[":submitters"] if isinstance(each, dict)]
    found = []
    for person in people:
        student = next(
            (str(person[key]) for key in (":sid", ":email", ":name") if person.get(key)), None
        )
        if student is not None:
            name = str(person.get(":name") or "") or None
            found.append(
                Named(
                    student=student,
                    name=name,
                    file="",
                    submitted_at=moment,
                    system="gradescope",
                    undated=moment is None,
                )
            )
    return tuple(found)
