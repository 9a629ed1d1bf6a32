"""Fuzz the reading of reports: bytes → encoding → JSON → schema → sentences, as `grade validate`.

Allowed are a report, sentences about what is wrong with it, and `UsageProblem`. A report that is
valid can be written and is the same when it is read again. The first byte of an input says in
which encoding the rest is put into the file.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

with atheris.instrument_imports(include=["grader", "jsonschema._keywords"]):
    import jsonschema  # noqa: F401 - `validation` imports it later, then uninstrumented

    from grader import report, rubric
    from grader.cli.layout import wrap
    from grader.errors import UsageProblem

from builders import (
    a_diagnosis,
    a_problem,
    a_report,
    a_text,
    an_assignment,
    an_outcome,
    some_outcomes,
)
from harness import run

MOST_BYTES = 48_000
ENCODINGS = ("raw", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-le")


def test_one(data: bytes) -> None:
    if not data:
        return
    FILE.write_bytes(_encoded(data[1 : MOST_BYTES + 1], ENCODINGS[data[0] % len(ENCODINGS)]))
    try:
        found = report.read(FILE)
    except UsageProblem as problem:
        assert str(FILE) in str(problem)
        return
    version = found.get("schema_version") if isinstance(found, dict) else None
    wrong = report.validate(found, consumer=version != "1.0")
    assert all(wrap(sentence) for sentence in wrong)
    if not wrong:
        assert isinstance(found, dict)
        if version == "1.0":
            report.write(found, FILE)
        else:
            FILE.write_text(report.dumps(found), "ascii")
        assert report.read(FILE) == found


def _encoded(data: bytes, encoding: str) -> bytes:
    return data if encoding == "raw" else data.decode("utf-8", "replace").encode(encoding)


def seeds() -> Iterator[bytes]:
    """Reports of several kinds, indented and not, in every encoding, and parts of them."""
    for each in reports():
        for number in range(len(ENCODINGS)):
            yield bytes([number]) + report.dumps(each).encode()
        yield b"\0" + json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode()
        later = each | {"schema_version": "1.7", "added": {"by": ["a", "later", 1.5]}}
        yield b"\0" + json.dumps(later, separators=(",", ":")).encode()
        for part in each.values():
            yield b"\0" + json.dumps(part).encode()
    yield from (b"\0" + text for text in (b"", b"{", b"[NaN]", b'{"a":1,"a":2}', b"1e999", b"\xff"))
    yield b"\0" + b"[" * 300 + b"]" * 300


def reports() -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as parent:
        hw4 = an_assignment(Path(parent))
    message = a_text("shown 0.25", "公开 0.25")
    lost = an_outcome(verdict="failed", cause="mismatch", message=message, detail="far apart")
    for audience in ("student", "staff"):
        yield a_report(hw4, audience=audience, official=True)
        yield a_report(
            hw4,
            audience=audience,
            outcomes=(lost, *some_outcomes()),
            problems=[a_problem()],
            diagnoses=[a_diagnosis()],
        )
        yield a_report(
            hw4,
            audience=audience,
            status="grader_failed",
            scored=rubric.undecided(hw4.criteria),
            outcomes=(),
        )


FILE = Path()

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        FILE = Path(folder, "report.json")
        run(test_one, seeds(), most_bytes=MOST_BYTES, split=lambda data: (data[:1], data[1:], b""))
