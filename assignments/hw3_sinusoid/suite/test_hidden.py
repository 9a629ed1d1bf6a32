"""The hidden tests of hw3: the shown requirements on other inputs.

The expected values come from powers of e and complex numbers. What another criterion pays for
is decided by the submission's own numbers: `WAVES` are the ways to miss the sine of an angle,
`EXPONENTS` and `STARTS` the ways to miss the angle.
"""

import cmath
import itertools
import math

import pytest
import torch

from grader.suite.compare import assert_close, assert_like_own, fail

# Relative error of a float32 period: 6e-7. Nearest wrong: 5e-4 (6.28 for 2π).
RTOL = 1e-5

WAVES = (
    lambda angle: cmath.exp(1j * angle).imag,
    lambda angle: cmath.exp(1j * angle).real,
    lambda angle: -cmath.exp(1j * angle).imag,
    lambda angle: cmath.exp(1j * math.radians(angle)).imag,
    lambda angle: cmath.exp(2j * math.pi * angle).imag,
    lambda angle: cmath.exp(1j * math.pi * angle).imag,
    lambda angle: angle,
)

# The handout promises that no position is beyond.
LAST = 16383

# Positions counted from 0 or from 1.
STARTS = (0, 1)

# The first three have the right factor from pair to pair.
EXPONENTS = (
    lambda i, d: 2 * i / d,
    lambda i, d: (2 * i + 1) / d,
    lambda i, d: (2 * i + 2) / d,
    lambda i, d: i / d,
    lambda i, d: 4 * i / d,
    lambda i, d: -2 * i / d,
    lambda i, d: 2 * i / (d - 2),
    lambda i, d: 2 * (i // 2) / d,
    lambda i, d: 2 * i,
)


def atol(pos: int) -> float:
    """What float32 may be off by at a position, over all pairs.

    A frequency b^-x has the relative error 6e-8·x·ln b, which is at most 2.2e-8 of 1; the product
    with pos rounds once more by 6e-8. Seen in practice: 1e-7·pos. Wrong formulas miss by 0.1 and
    more at some of the positions of each test.
    """
    return max(1e-5, 2e-7 * pos)


def angle(pos: float, i: int, d: int, base: float, exponent=EXPONENTS[0]) -> float:
    """pos / base^exponent, through the logarithm of the base."""
    return pos * math.exp(-exponent(i, d) * math.log(base))


def decided(seen, answers) -> int:
    """The number of the first list of answers that `seen` is, or 0: the right one."""
    for number, each in enumerate(answers):
        if all(abs(s - a) <= atol(1000) for s, a in zip(seen, each, strict=True)):
            return number
    return 0


def public_values() -> dict[str, torch.Tensor]:
    """What `public_values.json` holds: the answers to the shown tests."""

    def right(pos: int, d: int) -> torch.Tensor:
        return torch.tensor(WAVES[0](angle(pos, 0, d, 10000.0)), dtype=torch.float64)

    def all_forms(pos: int, i: int, d: int, base: float) -> torch.Tensor:
        forms = itertools.product(WAVES, EXPONENTS, STARTS)
        values = [wave(angle(pos + start, i, d, base, power)) for wave, power, start in forms]
        return torch.tensor(values, dtype=torch.float64)

    return {
        "pair_0_at_0": right(0, 6),
        "pair_0_at_1": right(1, 6),
        "pair_0_at_2": right(2, 6),
        "pair_0_at_100": right(100, 8),
        "pair_0_at_10000": right(10000, 4),
        "usual_base": all_forms(100, 2, 6, 10000.0),
        "base_100": all_forms(100, 2, 6, 100.0),
        "last_2_6": all_forms(LAST, 2, 6, 10000.0),
        "last_3_8": all_forms(LAST, 3, 8, 10000.0),
        "last_3_10": all_forms(LAST, 3, 10, 10000.0),
    }


def check_form(seen, want, *, right, atol, rtol=0.0):
    """`want` is the right value, or that of a mistake which another criterion pays for."""
    if right:
        assert_close(seen, want, atol=atol, rtol=rtol)
    else:
        assert_like_own(seen, want, code="own_form", atol=atol, rtol=rtol)


@pytest.fixture(scope="module")
def memory():
    """What a call gave when it was made first."""
    return {}


# Not d = 2: with the spacing 2i / (d - 2), which `value_later_pairs` pays for, it divides by zero.
@pytest.mark.criterion("value_first_pair")
@pytest.mark.parametrize("d", [4, 6, 10, 64, 2048])
def test_pair_0(student, rng, memory, d):
    early = student.sinusoid_value(17, 0, 12)
    assert_like_own(early, memory.setdefault("early", early), code="not_as_before", atol=1e-9)
    for low, high in ((1, 9), (10, 99), (100, 999)):
        pos = rng.integer(low, high)
        seen = student.sinusoid_value(pos, 0, d)
        assert_close(seen, WAVES[0](angle(pos, 0, d, 10000.0)), atol=atol(pos))


@pytest.mark.criterion("value_later_pairs")
@pytest.mark.parametrize("d", [6, 8, 12, 32])
def test_later_pairs(student, rng, d):
    forms = list(itertools.product(WAVES, EXPONENTS[:3]))
    seen = [student.sinusoid_value(pos, 0, d) for pos in (1, 2, 3)]
    answers = [[w(angle(p, 0, d, 10000.0, e)) for p in (1, 2, 3)] for w, e in forms]
    form = decided(seen, answers)
    wave, exponent = forms[form]
    far = [(LAST, d // 2 - 1), (LAST, d // 2 - 2), (rng.integer(512, LAST), d // 2 - 1)]
    near = [(rng.integer(high // 10 + 1, high), rng.integer(1, d // 2 - 1)) for high in (9, 99)]
    for pos, i in (*near, (rng.integer(100, 5000), rng.integer(1, d // 2 - 1)), *far):
        want = wave(angle(pos, i, d, 10000.0, exponent))
        check_form(student.sinusoid_value(pos, i, d), want, right=form == 0, atol=atol(pos))


# A table for so many pairs, or a narrow integer, ends before the last of them.
@pytest.mark.criterion("value_later_pairs")
@pytest.mark.parametrize("d", [256, 1026, 2048])
def test_wide_vectors(student, rng, d):
    forms = list(itertools.product(WAVES, EXPONENTS[:3]))
    seen = [student.sinusoid_value(pos, 0, d) for pos in (1, 2, 3)]
    answers = [[w(angle(p, 0, d, 10000.0, e)) for p in (1, 2, 3)] for w, e in forms]
    form = decided(seen, answers)
    wave, exponent = forms[form]
    for i in (d // 2 - 1, rng.integer(d // 4, d // 2 - 2)):
        pos = rng.integer(100, 300)
        want = wave(angle(pos, i, d, 10000.0, exponent))
        check_form(student.sinusoid_value(pos, i, d), want, right=form == 0, atol=atol(pos))


@pytest.mark.criterion("value_base")
@pytest.mark.parametrize("power", [1, 2, 3, 5, 6])
def test_another_base(student, rng, power):
    base = float(rng.integer(2, 9) * 10**power)
    d = rng.choice([6, 10, 14])
    calls = [(rng.integer(5, 40), i) for i in (0, 1, 2, 1, 2)]
    forms = list(itertools.product(WAVES, EXPONENTS, STARTS))
    usual = [student.sinusoid_value(pos, i, d) for pos, i in calls]
    answers = [[w(angle(p + s, i, d, 10000.0, e)) for p, i in calls] for w, e, s in forms]
    form = decided(usual, answers)
    wave, exponent, start = forms[form]
    for pos, i in calls:
        want = wave(angle(pos + start, i, d, base, exponent))
        seen = student.sinusoid_value(pos, i, d, base=base)
        check_form(seen, want, right=form == 0, atol=atol(pos), rtol=RTOL)


@pytest.mark.criterion("period_first_pair")
@pytest.mark.parametrize("d", [6, 10, 16, 512])
def test_the_period_of_pair_0(student, d):
    first = student.sinusoid_period(0, d)
    assert_close(first, 2 * math.pi, atol=0.0, rtol=RTOL)
    if first == student.sinusoid_period(2, d):
        fail("same_for_every_pair", first=0, second=2)


@pytest.mark.criterion("period_later_pairs")
@pytest.mark.parametrize("d", [6, 10, 32, 512, 2048])
def test_the_periods_of_later_pairs(student, rng, d):
    first = student.sinusoid_period(0, d)
    if not 0 < first < math.inf:
        fail("not_a_period", pair=0, seen=first)
    for i in (1, rng.integer(1, d // 2 - 1), d // 2 - 1):
        want = first / angle(1, i, d, 10000.0)
        right = abs(first - 2 * math.pi) <= RTOL
        check_form(student.sinusoid_period(i, d), want, right=right, atol=0.0, rtol=RTOL)


@pytest.mark.criterion("period_base")
@pytest.mark.parametrize("power", [0, 1, 2, 3, 5, 6])
def test_periods_with_another_base(student, rng, power):
    """The exponent is read off the submission's own periods with the usual base."""
    base, d = float(rng.integer(2, 9) * 10**power), rng.choice([6, 8, 16])
    i = rng.integer(2, d // 2 - 1)
    first, usual = student.sinusoid_period(0, d), student.sinusoid_period(i, d)
    for pair, period in ((0, first), (i, usual)):
        if not 0 < period < math.inf:
            fail("not_a_period", pair=pair, seen=period)
    if first == usual:
        fail("same_for_every_pair", first=0, second=i)
    exponent = (math.log(usual) - math.log(first)) / math.log(10000.0)
    first, seen = student.sinusoid_period(0, d, base=base), student.sinusoid_period(i, d, base=base)
    for pair, period in ((0, first), (i, seen)):
        if not 0 < period < math.inf:
            fail("not_a_period", pair=pair, seen=period)
    # In logarithms, so that no absurd exponent overflows here; a difference is a relative error.
    want = math.log(first) + exponent * math.log(base)
    assert_like_own(math.log(seen), want, code="own_form", atol=RTOL)


@pytest.mark.criterion("value_first_pair")
def test_the_first_call_once_more_gives_the_same_answer(student, memory):
    late = student.sinusoid_value(17, 0, 12)
    assert_like_own(late, memory.setdefault("early", late), code="not_as_before", atol=1e-9)
