"""The shown tests of hw3: calls that can be pasted, and stored float64 results.

Later pairs are compared with pair 0 of the same submission wherever the factor between the two
is a round number (10000 ** (2 / 8) is 10), so a cosine in place of a sine is paid for once.
"""

import math

import pytest

from grader.suite.compare import assert_close, assert_like_own, fail

# Angles stay below 31, where float32 is off by at most 3e-6 (relative error of a frequency:
# 6e-7). The nearest wrong values: 0.02 for the tensor2tensor spacing, 0.1 for others.
ATOL = 1e-5
# Float32 periods are right to 6e-7 of themselves, and the product below takes three of them;
# 6.28 for 2π is wrong by 5e-4.
RTOL = 1e-5
# At position 16383 float32 angles of slow pairs are off by 1e-7 of it and less; what wraps, stops
# or ends before misses at one of the three pairs by 0.01 and more.
FAR = 3.3e-3


@pytest.fixture(scope="module")
def memory():
    """What a call gave when it was made first."""
    return {}


def assert_as_before(seen, memory):
    assert_like_own(seen, memory.setdefault("early", seen), code="not_as_before", atol=ATOL)


def assert_moves(seen, other, *, first, second):
    """The values at two positions differ: a constant would pass the comparisons with itself."""
    if seen == other:
        fail("same_at_every_position", first=first, second=second)


def assert_same_wave(seen, first, *, pair, width, pos, times):
    """A later pair has the value that the submission's own pair 0 had, so many times earlier."""
    assert_like_own(
        seen,
        first,
        code="slower_value",
        atol=ATOL,
        pair=pair,
        width=width,
        times=times,
        pos=pos,
        early=pos // times,
    )


def assert_slower(seen, other, *, pair, later):
    """The periods of two pairs are numbers of positions, and not the same."""
    assert_period(seen, pair=pair)
    if seen == other:
        fail("same_for_every_pair", first=pair, second=later)


def assert_period(seen, *, pair):
    if not 0 < seen < math.inf:
        fail("not_a_period", pair=pair, seen=seen)


def assert_times_as_long(seen, first, *, pair, width, times):
    """A period is a round multiple of the submission's own period of pair 0."""
    assert_like_own(
        seen,
        times * first,
        code="longer_period",
        atol=0.0,
        rtol=RTOL,
        pair=pair,
        width=width,
        times=times,
        first=first,
    )


def assert_equal_steps(with_10, with_100, with_1000, *, pair):
    """The periods grow by the same factor from base 10 to 100 as from 100 to 1000."""
    for seen in (with_10, with_100, with_1000):
        assert_period(seen, pair=pair)
    if with_10 == with_1000:
        fail("base_ignored", pair=pair, first=10.0, second=1000.0)
    # In logarithms, so that no absurd period overflows; their difference is a relative error.
    steps = math.log(with_10) + math.log(with_1000) - 2 * math.log(with_100)
    if abs(steps) > RTOL:
        fail("unequal_steps", pair=pair, low=with_10, middle=with_100, high=with_1000)


def assert_in_its_form(seen, answers, form, *, atol):
    """The right value, or the one that belongs to a mistake which other criteria pay for."""
    if form == 0:
        assert_close(seen, answers[0], atol=atol)
    else:
        assert_like_own(seen, answers[form], code="own_form", atol=atol)


def form_of(seen, answers):
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
    assert_same_wave(student.sinusoid_value(40, 1, 8), at_4, pair=1, width=8, pos=40, times=10)
    assert_same_wave(student.sinusoid_value(50, 1, 8), at_5, pair=1, width=8, pos=50, times=10)


@pytest.mark.criterion("value_later_pairs")
def test_pair_2_of_8_dimensions_is_a_hundred_times_slower(student):
    at_7 = student.sinusoid_value(7, 0, 8)
    assert_same_wave(student.sinusoid_value(700, 2, 8), at_7, pair=2, width=8, pos=700, times=100)


@pytest.mark.criterion("value_later_pairs")
def test_with_4_dimensions_pair_1_is_a_hundred_times_slower(student):
    at_3 = student.sinusoid_value(3, 0, 4)
    assert_same_wave(student.sinusoid_value(300, 1, 4), at_3, pair=1, width=4, pos=300, times=100)


@pytest.mark.criterion("value_later_pairs")
def test_with_2048_dimensions_pair_512_is_a_hundred_times_slower(student):
    at_3 = student.sinusoid_value(3, 0, 2048)
    assert_same_wave(
        student.sinusoid_value(300, 512, 2048), at_3, pair=512, width=2048, pos=300, times=100
    )


# Which wave and which factor the submission has tells its answer near the beginning.
@pytest.mark.criterion("value_later_pairs")
def test_slow_pairs_at_the_last_position(student, shown):
    near = student.sinusoid_value(100, 2, 6)
    form = form_of(near, shown["usual_base"])
    assert_in_its_form(student.sinusoid_value(16383, 2, 6), shown["last_2_6"], form, atol=FAR)
    assert_in_its_form(student.sinusoid_value(16383, 3, 8), shown["last_3_8"], form, atol=FAR)
    assert_in_its_form(student.sinusoid_value(16383, 3, 10), shown["last_3_10"], form, atol=FAR)


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
    assert_like_own(
        student.sinusoid_value(5, 2, 6, base=1.0), at_5, code="base_one_value", atol=ATOL, pair=2
    )
    assert_like_own(
        student.sinusoid_value(6, 1, 6, base=1.0), at_6, code="base_one_value", atol=ATOL, pair=1
    )


# A wrong factor between the pairs is paid for above. So the answer with the usual base tells
# which factor (or wave) the submission has, and the answer with base 100 must have the same.
@pytest.mark.criterion("value_base")
def test_base_100_in_place_of_10000(student, shown):
    usual = student.sinusoid_value(100, 2, 6)
    form = form_of(usual, shown["usual_base"])
    assert_in_its_form(
        student.sinusoid_value(100, 2, 6, base=100.0), shown["base_100"], form, atol=ATOL
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
    assert_times_as_long(second, first, pair=1, width=8, times=10)
    assert_times_as_long(student.sinusoid_period(3, 8), first, pair=3, width=8, times=1000)


@pytest.mark.criterion("period_later_pairs")
def test_with_4_dimensions_the_second_period_is_a_hundred_times_the_first(student):
    first = student.sinusoid_period(0, 4)
    assert_times_as_long(student.sinusoid_period(1, 4), first, pair=1, width=4, times=100)


@pytest.mark.criterion("period_later_pairs")
def test_with_2048_dimensions_the_period_of_pair_768_is_a_thousand_times_the_first(student):
    first = student.sinusoid_period(0, 2048)
    assert_times_as_long(
        student.sinusoid_period(768, 2048), first, pair=768, width=2048, times=1000
    )


# 10, 100, 1000 grow by the same factor, so the periods must, too, whatever the exponent is.
@pytest.mark.criterion("period_base")
def test_the_bases_10_100_1000_are_equally_far_apart(student):
    with_10 = student.sinusoid_period(2, 6, base=10.0)
    with_100 = student.sinusoid_period(2, 6, base=100.0)
    with_1000 = student.sinusoid_period(2, 6, base=1000.0)
    assert_equal_steps(with_10, with_100, with_1000, pair=2)


@pytest.mark.criterion("period_base")
def test_with_base_10_pair_2_is_not_as_fast_as_pair_0(student):
    first = student.sinusoid_period(0, 6, base=10.0)
    third = student.sinusoid_period(2, 6, base=10.0)
    assert_slower(first, third, pair=0, later=2)


@pytest.mark.criterion("period_base")
def test_with_base_1_all_periods_are_equal(student):
    first = student.sinusoid_period(0, 6, base=1.0)
    assert_period(first, pair=0)
    assert_like_own(
        student.sinusoid_period(2, 6, base=1.0), first, code="base_one_period", atol=0.0, rtol=RTOL
    )
