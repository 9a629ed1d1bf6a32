"""The numbers of misconceptions under a new id: the inputs of probes depend on it.

Starts a judge, and with it PyTorch; everything else about a copy is files.
"""

from pathlib import Path

from grader import assignment as assignments
from grader import misconceptions, signatures, submission
from grader.assignment import Assignment
from grader.errors import AssignmentError
from grader.explaining import reading
from grader.grading import Judge, Settings
from grader.model import Reading


def renew(folder: Path) -> None:
    """Write `diagnosis.json` anew where there is one, from the reference and the gallery.

    Raises:
        AssignmentError: misconceptions.toml is wrong, or the gallery gives no such numbers.
        GraderError: the judge gave no answer.
    """
    stored, reference = folder / "diagnosis.json", folder / "reference.py"
    if not stored.is_file() or not reference.is_file():
        return
    assignment = assignments.load(folder)
    problems: list[str] = []
    criteria = [each.id for each in assignment.criteria]
    known = misconceptions.read(folder, assignment.id, criteria, problems)
    rules = reading.read(folder, assignment.entry_points, known, problems)
    if problems:
        raise AssignmentError(*problems)
    files = [(each, folder / misconceptions.FOLDER / each.file) for each in known]
    with Judge.start(Settings(audience="staff")) as judge:
        built = signatures.build(
            assignment,
            _reading(reference, assignment),
            [(each, _reading(path, assignment)) for each, path in files if path.is_file()],
            lambda answer, changes: judge.numbers(answer, assignment, changes),
            rules,
        )
    stored.write_bytes(built.text.encode("utf-8"))


def _reading(path: Path, assignment: Assignment) -> Reading:
    names = [entry.name for entry in assignment.entry_points]
    return submission.understand(submission.read(path), names=names)
