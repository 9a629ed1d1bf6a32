"""Whether a rule's formulas say what they should: right steps right numbers, mistakes others."""

from collections.abc import Mapping

import numpy as np

from grader.explaining.asking import Question, Seen, close
from grader.explaining.search import Explainer
from grader.model import Json


def astray(explainers: Mapping[str, Explainer]) -> list[dict[str, Json]]:
    """Functions whose right steps give other numbers than the reference, and mistakes that don't.

    A mistake with a constant that is only found has no numbers of its own.
    """
    found: list[dict[str, Json]] = []
    for function, explainer in explainers.items():
        probes = [each.probe.id for each in explainer.questions if not _is_right(explainer, each)]
        if probes:
            found.append({"function": function, "probes": [*probes]})
            continue
        for pick in explainer.picks():
            # What fits no argument cannot be told by any number either.
            given = {each.probe.id: explainer.give((pick,), each) for each in explainer.questions}
            seen = {
                each.probe.id: Seen(value=value, exact=each.probe.exact)
                for each in explainer.questions
                if (value := given[each.probe.id]) is not None
            }
            if not explainer.explains((pick,), seen):
                found.append({"function": function, "mistake": pick.mistake.id})
    return found


def _is_right(explainer: Explainer, question: Question) -> bool:
    given, right = explainer.give((), question), explainer.right[question.probe.id]
    if given is None or given.shape != right.shape:
        return False
    with np.errstate(all="ignore"):
        return bool(close(right, given).all())
