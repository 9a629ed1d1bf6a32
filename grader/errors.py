"""The two kinds of failure that are not a student's.

A student's mistake is a value (an observation, an outcome), never an exception.
"""


class GraderError(Exception):
    """The grader itself failed; no submission may lose a point by it."""


class AssignmentError(Exception):
    """A course author's files are wrong; the message names file, place and expectation.

    Args:
        problems: one sentence for each thing that is wrong, all of one file together.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class UsageProblem(Exception):
    """The command cannot be carried out as typed; the message says what to type instead.

    The message is a sentence, or a `Text`, which holds it in both languages.
    """

    def __str__(self) -> str:
        told = self.args[0] if self.args else ""
        return str(getattr(told, "en", told))
