"""The shown tests of hw3: calls that can be pasted, and stored float64 results.

Later pairs are compared with pair 0 of the same submission wherever the factor between the two
is a round number (10000 ** (2 / 8) is 10), so a cosine in place of a sine is paid for once.
"""

import math

import pytest

from grader.suite.compare import assert_close, fail

# Angles stay below 31, where float32 is off by at most 3e-6 (relative error of a frequency:
# 6e-7). The nearest wrong values: 0.02 for the tensor2tensor spacing, 0.1 for others.
ATOL = 1e-5
# Float32 periods are right to 6e-7 of themselves, and the product below takes three of them;
# 6.28 for 2π is wrong by 5e-4.
RTOL = 1e-5


@pytest.fixture(scope="module")
def memory():
    """What a call gave when it was made first."""
    return {}


def assert_as_before(seen, memory):
    assert_close(seen, memory.setdefault("early", seen), atol=ATOL)


def assert_moves(seen, other, *, first, second):
    """The values at two positions differ: a constant would pass the comparisons with itself."""
    if seen == other:
        fail("same_at_every_position", first=first, second=second)


def assert_slower(seen, other, *, pair, later):
    """The periods of two pairs are numbers of positions, and not the same."""
    if not 0 < seen < math.inf:
        fail("not_a_period", pair=pair, seen=seen)
    if seen == other:
        fail("same_for_every_pair", first=pair, second=later)


def assert_base_matters(seen, other, *, pair, first, second):
    if seen == other:
        fail("base_ignored", pair=pair, first=first, second=second)


def known(seen, answers):
    """The number of the stored answer that `seen` is, or 0: the right one."""
    distances = (answers - seen).abs()
    nearest = int(distances.argmin())
    return nearest if distances[nearest] <= ATOL else 0


@pytest.mark.criterion("value_first_pair")
def test_pair_0_near_the_beginning(student, shown, memory):
    assert_as_before(student.sinusoid_value(2, 0, 6), memory)
    assert_close(student.sinusoid_value(2, 0, 6), shown["pair_0_at_2"], atol=ATOL)
    assert_close(student.sinusoid_value(0, 0, 6), shown["pair_0_at_0"], atol=ATOL)
    assert_close(student.sinusoid_value(1, 0, 6), shown["pair_0_at_1"], atol=ATOL)


@pytest.mark.criterion("value_first_pair")
def test_pair_0_far_away(student, shown):
    assert_close(student.sinusoid_value(100, 0, 8), shown["pair_0_at_100"], atol=ATOL)
    assert_close(student.sinusoid_value(10000, 0, 4), shown["pair_0_at_10000"], atol=ATOL)


@pytest.mark.criterion("value_later_pairs")
def test_pair_1_of_8_dimensions_is_ten_times_slower(student):
    at_4 = student.sinusoid_value(4, 0, 8)
    at_5 = student.sinusoid_value(5, 0, 8)
    assert_moves(at_4, at_5, first=4, second=5)
    assert_close(student.sinusoid_value(40, 1, 8), at_4, atol=ATOL)
    assert_close(student.sinusoid_value(50, 1, 8), at_5, atol=ATOL)


@pytest.mark.criterion("value_later_pairs")
def test_pair_2_of_8_dimensions_is_a_hundred_times_slower(student):
    at_7 = student.sinusoid_value(7, 0, 8)
    assert_close(student.sinusoid_value(700, 2, 8), at_7, atol=ATOL)


@pytest.mark.criterion("value_later_pairs")
def test_with_4_dimensions_pair_1_is_a_hundred_times_slower(student):
    at_3 = student.sinusoid_value(3, 0, 4)
    assert_close(student.sinusoid_value(300, 1, 4), at_3, atol=ATOL)


@pytest.mark.criterion("value_later_pairs")
def test_the_slowest_pair_moves_from_the_first_step_on(student):
    at_0 = student.sinusoid_value(0, 3, 8)
    at_1 = student.sinusoid_value(1, 3, 8)
    assert_moves(at_0, at_1, first=0, second=1)


@pytest.mark.criterion("value_base")
def test_with_base_1_all_pairs_are_equally_fast(student):
    at_5 = student.sinusoid_value(5, 0, 6, base=1.0)
    at_6 = student.sinusoid_value(6, 0, 6, base=1.0)
    assert_moves(at_5, at_6, first=5, second=6)
    assert_close(student.sinusoid_value(5, 2, 6, base=1.0), at_5, atol=ATOL)
    assert_close(student.sinusoid_value(6, 1, 6, base=1.0), at_6, atol=ATOL)


# A wrong factor between the pairs is paid for above. So the answer with the usual base tells
# which factor (or wave) the submission has, and the answer with base 100 must have the same.
@pytest.mark.criterion("value_base")
def test_base_100_in_place_of_10000(student, shown):
    usual = student.sinusoid_value(100, 2, 6)
    assert_close(
        student.sinusoid_value(100, 2, 6, base=100.0),
        shown["base_100"][known(usual, shown["usual_base"])],
        atol=ATOL,
    )


@pytest.mark.criterion("value_first_pair")
def test_the_first_call_once_more_gives_the_same_answer(student, memory):
    assert_as_before(student.sinusoid_value(2, 0, 6), memory)


@pytest.mark.criterion("period_first_pair")
def test_pair_0_repeats_after_a_full_turn(student):
    assert_close(student.sinusoid_period(0, 8), 2 * math.pi, atol=0.0, rtol=RTOL)
    assert_close(student.sinusoid_period(0, 6), 2 * math.pi, atol=0.0, rtol=RTOL)


# So that the number 2π alone, returned for everything, is no answer.
@pytest.mark.criterion("period_first_pair")
def test_pair_2_is_not_as_fast_as_pair_0(student):
    first = student.sinusoid_period(0, 8)
    third = student.sinusoid_period(2, 8)
    assert_slower(first, third, pair=0, later=2)


@pytest.mark.criterion("period_later_pairs")
def test_with_8_dimensions_each_period_is_ten_times_the_one_before(student):
    first = student.sinusoid_period(0, 8)
    second = student.sinusoid_period(1, 8)
    assert_slower(first, second, pair=0, later=1)
    assert_close(second, 10 * first, atol=0.0, rtol=RTOL)
    assert_close(student.sinusoid_period(3, 8), 1000 * first, atol=0.0, rtol=RTOL)


@pytest.mark.criterion("period_later_pairs")
def test_with_4_dimensions_the_second_period_is_a_hundred_times_the_first(student):
    first = student.sinusoid_period(0, 4)
    assert_close(student.sinusoid_period(1, 4), 100 * first, atol=0.0, rtol=RTOL)


# 10, 100, 1000 grow by the same factor, so the periods must, too, whatever the exponent is.
@pytest.mark.criterion("period_base")
def test_the_bases_10_100_1000_are_equally_far_apart(student):
    with_10 = student.sinusoid_period(2, 6, base=10.0)
    with_100 = student.sinusoid_period(2, 6, base=100.0)
    with_1000 = student.sinusoid_period(2, 6, base=1000.0)
    assert_base_matters(with_10, with_1000, pair=2, first=10.0, second=1000.0)
    assert_close(with_10 * with_1000, with_100 * with_100, atol=0.0, rtol=RTOL)


@pytest.mark.criterion("period_base")
def test_with_base_10_pair_2_is_not_as_fast_as_pair_0(student):
    first = student.sinusoid_period(0, 6, base=10.0)
    third = student.sinusoid_period(2, 6, base=10.0)
    assert_slower(first, third, pair=0, later=2)


@pytest.mark.criterion("period_base")
def test_with_base_1_all_periods_are_equal(student):
    first = student.sinusoid_period(0, 6, base=1.0)
    assert_close(student.sinusoid_period(2, 6, base=1.0), first, atol=0.0, rtol=RTOL)
