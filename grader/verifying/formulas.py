"""The formulas of `explanations.toml` against the reference: what is right must give its numbers.

Formulas are worked out with torch and numpy, which are not loaded here: a process of its own does
it. It runs no code of a suite or a submission.
"""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from grader.errors import AssignmentError
from grader.model import Text
from grader.sandbox import launch
from grader.verifying.rows import said

_PATIENCE_S: Final = 180.0
_LAST_WORDS: Final = 600
_PROGRAM: Final = """
import json
from pathlib import Path
from grader import assignment, diagnosis
from grader.explaining import checking, knowledge
from grader.suite import probes
known = knowledge.load(Path({known!r}))
questions = probes.questions(assignment.load(Path({folder!r})))
found = checking.astray(diagnosis.Diagnostician(known, questions).explainers)
Path({answer!r}).write_text(json.dumps(found), "ascii")
"""


def astray(folder: Path, knowledge: str) -> list[Text]:
    """What formulas give that they should not, one sentence for each.

    Args:
        folder: the assignment's.
        knowledge: the text of a `diagnosis.json`, with the rules in it.
    """
    if not json.loads(knowledge).get("rules"):
        return []
    with tempfile.TemporaryDirectory(prefix="torchgrade-") as private:
        known, answer = Path(private) / "diagnosis.json", Path(private) / "found.json"
        known.write_text(knowledge, "utf-8")
        program = _PROGRAM.format(known=str(known), folder=str(folder), answer=str(answer))
        try:
            ended = subprocess.run(
                launch.command(program),
                cwd=private,
                env=launch.environment(Path(private)),
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AssignmentError("the formulas do not come to an end") from error
        if ended.returncode != 0 or not answer.is_file():
            words = ended.stderr.decode("utf-8", "replace").strip()[-_LAST_WORDS:]
            raise AssignmentError(f"the formulas cannot be worked out: {words}")
        found: list[dict[str, Any]] = json.loads(answer.read_text("ascii"))
    return [_sentence(each) for each in found]


def _sentence(found: dict[str, Any]) -> Text:
    if "mistake" in found:
        return said("formula_harmless", function=found["function"], mistake=found["mistake"])
    return said("formulas_astray", function=found["function"], probes=found["probes"])
