"""Scoring, by examples and by laws."""

import pytest
from builders import a_criterion, a_planned, a_text, an_outcome, planned_of
from hypothesis import given
from hypothesis import strategies as st

from grader import rubric
from grader.errors import AssignmentError, GraderError
from grader.model import Criterion, Outcome, Scored

VERDICTS = st.sampled_from(["passed", "failed", "errored", "not_run"])


def scored_by(*outcomes: Outcome, criterion: Criterion | None = None) -> Scored:
    (only,) = rubric.score([criterion or a_criterion()], outcomes, planned_of(outcomes))
    return only


def test_a_criterion_is_earned_when_all_its_tests_passed() -> None:
    scored = scored_by(an_outcome("test_a"), an_outcome("test_b", visibility="hidden"))

    assert (scored.verdict, scored.earned, scored.message) == ("passed", 3, None)


def test_one_failed_test_loses_the_whole_criterion() -> None:
    scored = scored_by(an_outcome("test_a"), an_outcome("test_b", verdict="failed"))

    assert (scored.verdict, scored.earned) == ("failed", 0)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("not_run", "passed"), "not_run"),
        (("not_run", "failed"), "failed"),
        (("failed", "errored"), "failed"),
        (("errored", "passed"), "errored"),
        (("errored", "not_run"), "errored"),
    ],
)
def test_the_weightiest_verdict_is_the_criterions(verdicts: tuple[str, str], expected: str) -> None:
    scored = scored_by(
        *(an_outcome(f"test_{at}", verdict=each) for at, each in enumerate(verdicts))
    )

    assert expected == scored.verdict


def test_a_planned_test_without_an_outcome_was_not_run() -> None:
    planned = [a_planned("test_a"), a_planned("test_b")]

    (scored,) = rubric.score([a_criterion()], [an_outcome("test_a")], planned)

    assert (scored.verdict, scored.earned) == ("not_run", 0)
    assert scored.message is not None
    assert scored.message.en == "A test of this criterion was not run to its end."


def test_a_criterion_without_a_planned_test_is_pending() -> None:
    (scored,) = rubric.score([a_criterion()], [], [])

    assert (scored.verdict, scored.earned, scored.message) == ("pending", None, None)


def test_an_unfinished_function_is_not_done_and_named() -> None:
    (scored,) = rubric.score([a_criterion()], [], [a_planned()], blank={"apply_rope"})

    assert (scored.verdict, scored.earned) == ("not_done", 0)
    assert scored.message is not None
    assert scored.message.en == (
        "The placeholder is still in apply_rope, so there was nothing to test."
        " Nothing is wrong with your file."
    )


def test_a_function_that_is_not_defined_loses_even_what_is_not_in_this_edition() -> None:
    (scored,) = rubric.score([a_criterion()], [], [], missing={"apply_rope"})

    assert (scored.verdict, scored.earned) == ("not_run", 0)
    assert scored.message is not None
    assert scored.message.zh == "你的文件里没有定义 apply_rope，所以没有可以测试的内容。"


def test_an_unfinished_function_of_another_criterion_changes_nothing() -> None:
    outcomes = [an_outcome()]

    (scored,) = rubric.score([a_criterion()], outcomes, planned_of(outcomes), blank={"angle"})

    assert scored.verdict == "passed"


def test_an_unmet_need_is_named_by_its_title() -> None:
    criteria = [a_criterion("turning"), a_criterion("pairing", needs=("turning",))]
    outcomes = [an_outcome("test_a", criterion="turning", verdict="failed"), an_outcome("test_b")]

    _, scored = rubric.score(criteria, outcomes, planned_of(outcomes))

    assert (scored.verdict, scored.earned) == ("not_run", 0)
    assert scored.message is not None
    assert scored.message.args == {"needs": ["turning"]}
    assert scored.message.en == (
        "This counts only after another criterion is earned: Title of turning."
    )
    assert scored.message.zh == "要先拿到另一项的分数，这一项才计分：turning 的标题。"


def test_a_need_of_a_need_counts_in_any_order_of_the_rubric() -> None:
    criteria = [
        a_criterion("third", needs=("second",)),
        a_criterion("second", needs=("first",)),
        a_criterion("first"),
    ]
    outcomes = [
        an_outcome(f"test_{each}", criterion=each, verdict=verdict)
        for each, verdict in (("third", "passed"), ("second", "passed"), ("first", "failed"))
    ]

    scored = rubric.score(criteria, outcomes, planned_of(outcomes))

    assert [each.verdict for each in scored] == ["not_run", "not_run", "failed"]
    assert rubric.total(scored) == 0


def test_a_pending_need_is_not_held_against_the_student() -> None:
    criteria = [a_criterion("turning"), a_criterion("pairing", needs=("turning",))]
    outcomes = [an_outcome()]

    scored = rubric.score(criteria, outcomes, planned_of(outcomes))

    assert [each.verdict for each in scored] == ["pending", "passed"]
    assert (rubric.total(scored), rubric.decided(scored), rubric.max_score(scored)) == (3, 3, 6)


def test_the_message_is_that_of_the_first_shown_test_that_was_lost() -> None:
    scored = scored_by(
        an_outcome("test_h", visibility="hidden", verdict="errored", message=a_text("hidden")),
        an_outcome("test_a", verdict="passed", message=a_text("passed")),
        an_outcome("test_b", verdict="failed", message=a_text("first")),
        an_outcome("test_c", verdict="failed", message=a_text("second")),
    )

    assert scored.message == a_text("first")
    assert scored.verdict == "failed"


def test_a_test_of_the_course_that_errs_decides_nothing() -> None:
    criteria = [a_criterion("turning"), a_criterion("pairing", needs=("turning",))]
    outcomes = [an_outcome(criterion="turning", verdict="errored"), an_outcome(criterion="pairing")]

    scored = rubric.score(criteria, outcomes, planned_of(outcomes))

    assert [(each.verdict, each.earned) for each in scored] == [("errored", None), ("passed", 3)]
    assert (rubric.total(scored), rubric.decided(scored), rubric.max_score(scored)) == (3, 3, 6)


def test_without_a_lost_shown_test_the_hidden_one_speaks() -> None:
    scored = scored_by(
        an_outcome("test_a"),
        an_outcome("test_h", visibility="hidden", verdict="failed", message=a_text("hidden")),
    )

    assert scored.message == a_text("hidden")


def test_a_shown_and_a_hidden_test_may_share_a_name() -> None:
    outcomes = [an_outcome("test_a"), an_outcome("test_a", visibility="hidden", verdict="failed")]

    completed = rubric.complete(outcomes, planned_of(outcomes))

    assert tuple(outcomes) == completed


def test_an_outcome_that_was_not_planned_is_the_graders_mistake() -> None:
    with pytest.raises(GraderError, match="test_stray"):
        rubric.score([a_criterion()], [an_outcome("test_stray")], [a_planned()])


def test_a_test_of_an_unknown_criterion_is_the_authors_mistake() -> None:
    with pytest.raises(AssignmentError) as caught:
        rubric.score([a_criterion()], [], [a_planned(criterion="pairng")])

    assert caught.value.problems == (
        'test_values: no criterion "pairng" in rubric.toml; did you mean "pairing"?',
    )


def test_an_unreadable_file_earns_0_of_everything() -> None:
    scored = rubric.nothing_to_test([a_criterion("a"), a_criterion("b")])

    assert [(each.verdict, each.earned) for each in scored] == [("not_run", 0)] * 2
    assert rubric.decided(scored) == 6


def test_a_grader_failure_decides_nothing() -> None:
    scored = rubric.undecided([a_criterion("a"), a_criterion("b")])

    assert [(each.verdict, each.earned) for each in scored] == [("errored", None)] * 2
    assert (rubric.total(scored), rubric.decided(scored)) == (0, 0)


# --- laws ------------------------------------------------------------------------------------


@st.composite
def rubrics(draw: st.DrawFn) -> list[Criterion]:
    """Up to five criteria that need only earlier ones."""
    criteria: list[Criterion] = []
    for at in range(draw(st.integers(1, 5))):
        earlier = [each.id for each in criteria]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        points = draw(st.integers(0, 10))
        functions = draw(st.sampled_from([("f",), ("g",), ("f", "g")]))
        criteria.append(
            a_criterion(f"c{at}", points=points, needs=tuple(needs), entry_points=functions)
        )
    return draw(st.permutations(criteria))


@st.composite
def gradings(draw: st.DrawFn) -> tuple[list[Criterion], list[Outcome]]:
    criteria = draw(rubrics())
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from([each.id for each in criteria]),
                VERDICTS,
                st.sampled_from(["shown", "hidden"]),
            ),
            max_size=12,
        )
    )
    outcomes = [
        an_outcome(
            f"test_{at}",
            criterion=criterion,
            verdict=verdict,
            visibility=visibility,
            message=a_text(f"message {at}"),
        )
        for at, (criterion, verdict, visibility) in enumerate(rows)
    ]
    return criteria, outcomes


functions = st.sets(st.sampled_from(["f", "g"]))


@given(gradings(), functions, functions)
def test_points_are_whole_and_within_their_bounds(
    grading: tuple[list[Criterion], list[Outcome]], blank: set[str], missing: set[str]
) -> None:
    criteria, outcomes = grading

    scored = rubric.score(criteria, outcomes, planned_of(outcomes), blank=blank, missing=missing)

    assert [each.criterion for each in scored] == criteria
    for each in scored:
        whole = {"passed": each.criterion.points, "pending": None, "errored": None}
        assert each.earned == whole.get(each.verdict, 0)
        assert (each.message is None) == (each.verdict in ("passed", "pending"))
    sums = rubric.total(scored), rubric.decided(scored), rubric.max_score(scored)
    assert 0 <= sums[0] <= sums[1] <= sums[2] == sum(each.points for each in criteria)
    assert {type(each) for each in sums} == {int}


@given(gradings(), st.randoms(use_true_random=False))
def test_the_order_in_which_outcomes_come_does_not_matter(
    grading: tuple[list[Criterion], list[Outcome]], random
) -> None:
    criteria, outcomes = grading
    shuffled = random.sample(outcomes, len(outcomes))

    expected = rubric.score(criteria, outcomes, planned_of(outcomes))

    assert expected == rubric.score(criteria, shuffled, planned_of(outcomes))


@given(gradings(), st.data())
def test_one_more_passing_test_never_lowers_a_score(
    grading: tuple[list[Criterion], list[Outcome]], data: st.DataObject
) -> None:
    criteria, outcomes = grading
    lost = [at for at, each in enumerate(outcomes) if each.verdict != "passed"]
    if not lost:
        return
    at = data.draw(st.sampled_from(lost))
    old = outcomes[at]
    mended = [*outcomes]
    mended[at] = an_outcome(old.test, criterion=old.criterion, visibility=old.visibility)

    before = rubric.score(criteria, outcomes, planned_of(outcomes))
    after = rubric.score(criteria, mended, planned_of(outcomes))

    for worse, better in zip(before, after, strict=True):
        assert (worse.earned or 0) <= (better.earned or 0)


@given(gradings())
def test_all_points_are_earned_exactly_when_every_planned_test_passed(
    grading: tuple[list[Criterion], list[Outcome]],
) -> None:
    criteria, outcomes = grading
    # One of the course's own that errs leaves its criterion open.
    outcomes = [each for each in outcomes if each.verdict != "errored"]
    worth = [a_criterion(c.id, points=c.points + 1, needs=c.needs) for c in criteria]

    scored = rubric.score(worth, outcomes, planned_of(outcomes))

    passed = all(each.verdict == "passed" for each in outcomes)
    assert passed == (rubric.total(scored) == rubric.decided(scored))


@given(gradings(), st.data())
def test_a_lost_outcome_is_never_worth_more_than_a_failed_one(
    grading: tuple[list[Criterion], list[Outcome]], data: st.DataObject
) -> None:
    criteria, outcomes = grading
    kept = data.draw(st.lists(st.sampled_from(outcomes), unique_by=id)) if outcomes else []

    whole = rubric.total(rubric.score(criteria, outcomes, planned_of(outcomes)))
    part = rubric.score(criteria, kept, planned_of(outcomes))

    assert rubric.total(part) <= whole
    assert rubric.decided(part) == sum(
        each.criterion.points
        for each in part
        if each.verdict != "errored" and any(o.criterion == each.criterion.id for o in outcomes)
    )
