"""A script as a reading: its units, definitions and problems."""

from collections.abc import Collection

from grader.model import Problem, Reading, Source, Submission
from grader.reading import decoding
from grader.reading.definitions import definitions
from grader.reading.imports import imports
from grader.reading.magics import surely_magic
from grader.reading.parsing import Unparsable, line_at, parse, script_place, too_much_code
from grader.reading.shared import defined_twice, look_defined, marker, much_code, unreadable
from grader.reading.units import units
from grader.texts import catalog

_MARKER_LINES = 10
_MESSAGES = {"syntax": "syntax_error", "await": "await_script", "complex": "too_complex"}


def understand(submission: Submission, names: Collection[str]) -> Reading:
    """What a script holds; with a syntax error it defines nothing, but is not unreadable."""
    text = decoding.decode(submission.content, "module")
    if isinstance(text, Problem):
        return unreadable(submission, text)
    if _is_notebook_json(text):
        return unreadable(submission, decoding.not_source("module", "notebook"))
    if too_much_code(text):
        return unreadable(submission, much_code())
    first_lines = "\n".join(text.split("\n", _MARKER_LINES)[:_MARKER_LINES])
    tree = parse(text)
    if isinstance(tree, Unparsable):
        # Only now: the marks of a merge inside a docstring are harmless.
        conflict = decoding.merge_conflict(text)
        if conflict is not None:
            return unreadable(submission, conflict)
        return Reading(
            submission=submission,
            source=None,
            definitions={},
            problems=(_error(text, tree),),
            marker=marker(first_lines),
            unread=look_defined(text),
        )
    lines = text.split("\n")
    found = definitions([(tree, lines, lambda line: script_place(lines, line))])
    return Reading(
        submission=submission,
        source=Source(kind="module", units=units(text, tree)),
        definitions=found,
        problems=tuple(defined_twice(found, names)),
        marker=marker(first_lines),
        imports=imports([tree]),
    )


def _is_notebook_json(text: str) -> bool:
    """Whether a notebook was saved as `.py`; its JSON may even be valid Python."""
    held = '"cells"' in text or '"worksheets"' in text
    return text.lstrip().startswith("{") and '"nbformat"' in text and held


def _error(text: str, error: Unparsable) -> Problem:
    line = line_at(text.split("\n"), error.line)
    code = _MESSAGES[error.why]
    if error.why == "syntax" and surely_magic(line):
        code = "magic_in_script"
    message = catalog.text(f"reading.{code}", source=line, error=error.type, reason=error.reason)
    return Problem(
        kind="syntax_error", message=message, place=script_place(text.split("\n"), error.line)
    )
