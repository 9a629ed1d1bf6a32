"""A submission has three lives; one mistake must not use up what other criteria need."""

from collections.abc import Sequence

from grader.model import Criterion, Outcome, Planned
from grader.sandbox.session import MOST_DEATHS, Session


class Lives:
    """Decides which tests are not worth another death.

    Once a test of a criterion had to be stopped, the criterion is lost, and its other tests would
    only die again. The last life is kept for criteria whose functions have killed nothing yet, as
    long as there are such: two functions of one file are independent.
    """

    def __init__(
        self, criteria: Sequence[Criterion], planned: Sequence[Planned], session: Session
    ) -> None:
        self.functions = {each.id: frozenset(each.entry_points) for each in criteria}
        self.waiting = [each.criterion for each in planned]
        self.session = session
        self.deaths = session.deaths
        self.fatal: set[str] = set()

    def refusal(self, plan: Planned) -> str | None:
        """Why this test should not be run, as a reason of `Spent`, or None."""
        self.waiting.remove(plan.criterion)
        if plan.criterion in self.fatal:
            return "criterion"
        killers = frozenset().union(*(self.functions[each] for each in self.fatal))
        if self.session.deaths < MOST_DEATHS - 1 or self.functions[plan.criterion].isdisjoint(
            killers
        ):
            return None
        spared = any(self.functions[each].isdisjoint(killers) for each in self.waiting)
        return "function" if spared else None

    def count(self, plan: Planned, outcome: Outcome) -> None:
        """Take note of what a test cost. A test that passed all the same has lost nothing."""
        if self.session.deaths > self.deaths and outcome.verdict != "passed":
            self.fatal.add(plan.criterion)
        self.deaths = self.session.deaths
