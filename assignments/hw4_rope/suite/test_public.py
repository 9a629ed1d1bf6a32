"""The shown tests of hw4: inputs that can be pasted, stored float64 results, and properties.

Only `values` asks for this task's conventions and for every shape. The other criteria are met in
either pairing and direction and in any one shape: they compare the submission with itself, or
look at rows of equal numbers, where the pairing shows in the order of the result only.
"""

import itertools

import pytest
import torch

from grader.model import Died, Returned
from grader.suite.compare import assert_close, assert_dtype, assert_like_own, close, fail
from grader.suite.shapes import InShape

# Float32 is off by 1e-6 at positions up to 8 with numbers up to 8. The nearest wrong values: angles
# or tables in half precision miss by 2e-4, everything else by 0.05 and more.
ATOL = 1e-5
# `turning` is about what turns, not how exactly: float32 is off by 1e-4 in products of rows (which
# are up to 30), float16 by 0.01, cosines and sines rounded to bfloat16 (2 ** -9 of themselves) by
# 0.04, and what is no turn misses by 0.3 and more.
TURN = 0.1
# More than rounding can do in any dtype but bfloat16, less than a pair moves in a few steps.
SOME = 1e-3
# A pair that turns at all: the slowest of 6 numbers moves by 0.013 in 6 steps, by 3e-5 with the
# exponent doubled. What is not turned stays in line to the last bit.
LEAST = 1e-6
# Cosines and sines in half precision, in a row of ones. Another base misses by 0.01 and more.
COARSE = 5e-3
# Float32 angles at position 1000 are off by 6e-5, which moves scores of 8 by less than 1e-3. Angles
# in half precision, or a table that has ended, move them by 0.05 and more.
FAR = 1e-3
# From one end of a sequence to the other: angles at 16383 are off by 1.6e-3 (1e-7 of the position),
# which moves scores of 8 by 0.03. Positions that wrap or stop somewhere move one of them by 0.3.
WIDE = 0.1
# What a bfloat16 result may be off by, with numbers up to 2: cos and sin rounded (2 ** -9 of
# themselves), two products and their sum rounded, 0.021 in all. Angles in bfloat16 miss by 0.3
# and more from position 257 on, which bfloat16 does not have.
BFLOAT16 = 0.03


@pytest.fixture(scope="module")
def memory():
    """What a call gave when it was made first."""
    return {}


@pytest.fixture(scope="module")
def known():
    """What these tests found out about the submission; it lives as long as they do."""
    return {}


@pytest.fixture
def any_shape(student):
    """The submission as it is, whatever shape `student` gives it."""
    return student.as_it_is if isinstance(student, InShape) else student


@pytest.fixture
def student(student, request, known):
    """The submission; one that takes (B, L, D) or (B, H, L, D) alone pays for that under `values`.

    Everywhere else it gets its rows in the first of the three shapes that it takes.
    """
    if request.node.get_closest_marker("criterion").args[0] == "values":
        return student
    if "axes" not in known:
        known["axes"] = axes_that_work(student)
    return InShape(student, (known["axes"],)) if known["axes"] else student


def axes_that_work(student):
    """How many axes must stand in front of (L, D): 0 where that is of no use either."""
    for axes in range(3):
        x = torch.ones(5, 6).reshape(*[1] * axes, 5, 6)
        seen = student.observe("apply_rope", x)
        if isinstance(seen, Died):
            return 0  # asking again would only spend the submission's time
        if isinstance(seen, Returned) and is_turned(seen.value, x):
            return axes
    return 0


def is_turned(value, x):
    if not isinstance(value, torch.Tensor) or value.shape != x.shape:
        return False
    return not value.is_complex() and bool(((value - value[..., :1, :]).abs() > SOME).any())


def assert_as_before(seen, memory):
    assert_like_own(seen, memory.setdefault("early", seen), code="not_as_before", atol=ATOL)


def assert_lengths_kept(seen, x):
    """Each pair is as long as before, with neighbours or halves as pairs (also when rearranged)."""
    losses = [
        (after - before).abs().amax(-1)
        for after in lengths_of_pairs(seen)
        for before in lengths_of_pairs(x)
    ]
    least = min(losses, key=lambda loss: float(loss.nan_to_num(torch.inf).max()))
    if not bool((least <= TURN).all()):
        fail("pair_length", position=int(least.nan_to_num(torch.inf).argmax()))


def lengths_of_pairs(rows):
    """Length of each pair of (L, D), once for (2i, 2i+1) and once for (i, i + D/2)."""
    half = rows.shape[-1] // 2
    rows = rows.double()
    yield torch.hypot(rows[:, 0::2], rows[:, 1::2])
    yield torch.hypot(rows[:, :half], rows[:, half:])


def assert_changing(scores):
    if bool(((scores - scores[0, 0]).abs() < SOME).all()):
        fail("scores_never_change")


def assert_scores_alike(seen, own, *, seen_from, own_from, atol):
    """Dot products of rows that stand equally far apart, from one position on and from another."""
    apart = ~((seen - own).abs() <= atol)
    if bool(apart.any()):
        a, b = divmod(int(apart.flatten().int().argmax()), apart.shape[1])
        fail(
            "scores_apart",
            first=seen_from + a,
            second=seen_from + b,
            seen=float(seen[a, b]),
            early=own_from + a,
            late=own_from + b,
            own=float(own[a, b]),
        )


def assert_scores_across(seen, ids):
    """Rows at p and q have the product of the rows at 0 and q - p, where all three are there."""
    places, scores = ids.tolist(), seen @ seen.T
    for (a, first), (b, second) in itertools.combinations(enumerate(places), 2):
        if second - first not in places:
            continue
        across, from_0 = scores[a, b], scores[0, places.index(second - first)]
        if not bool((across - from_0).abs() <= WIDE):
            fail(
                "scores_apart",
                first=first,
                second=second,
                seen=float(across),
                early=0,
                late=second - first,
                own=float(from_0),
            )


def assert_own_angles(seen):
    """Number j stands alone in the rows j and j + D, so the angle between these is its pair's.

    It is neither 0 nor a half turn, and it is not the same for all pairs.
    """
    first, second = (rows / rows.norm(dim=-1, keepdim=True) for rows in seen.double().chunk(2))
    cosines = (first * second).sum(-1)
    sines = (second - cosines[:, None] * first).norm(dim=-1)
    moved = sines > LEAST
    if not bool(moved.all()):
        column = int(moved.int().argmin())
        fail("pair_not_turned", column=column, first=column, second=column + len(moved))
    angles = torch.atan2(sines, cosines)
    if not bool(angles.amax() - angles.amin() > SOME):
        fail("pairs_turn_alike")


def assert_turned(seen):
    """Equal rows came back different, and not by one number added to all: something was turned."""
    change = seen[1:] - seen[:1]
    if not bool(((change.amax(-1) - change.amin(-1)) > SOME).any()):
        fail("nothing_turned" if not bool((change.abs() > SOME).any()) else "only_added")


def assert_pairs_alike(seen):
    """Rows of ones, turned by one angle: half of the numbers are cos - sin, half cos + sin."""
    halves = seen.double().sort(dim=-1).values.unflatten(-1, (2, -1))
    spread = (halves.amax(-1) - halves.amin(-1)).amax(-1)
    if not bool((spread <= ATOL).all()):
        fail("base_one", position=int(spread.nan_to_num(torch.inf).argmax()))


def assert_base_matters(seen, other, *, first, second):
    if not bool(((seen - other).abs() > ATOL).any()):
        fail("base_ignored", first=first, second=second)


def assert_in_its_form(seen, usual, answers, usual_answers):
    """Rows of ones with another base are right, or follow the submission's rule for the usual one.

    The stored answers are those of known mistakes that other criteria pay for, the right one
    first; sorted, so that pairing and direction are lost. Where positions are counted from the
    end, the last row is not turned, and the first one is turned as the last should be.
    """
    row = 0 if close(usual[-1], torch.ones_like(usual[-1]), atol=SOME) else -1
    losses = (usual_answers - usual[row].double().sort().values).abs().amax(-1)
    form = int(losses.nan_to_num(torch.inf).argmin())
    if not bool(losses[form] <= COARSE):
        fail("base_unknown")
    numbers = seen[row].double().sort().values
    if form == 0:
        assert_close(numbers, answers[0], atol=COARSE)
    else:
        assert_like_own(numbers, answers[form], code="base_in_your_form", atol=COARSE)


def assert_rows_at(seen, whole, ids, row):
    """Equal rows with given positions are those of a whole sequence at these positions.

    A whole sequence that does not begin at position 0 begins at 1 or runs backwards, which
    `values` pays for: then the rows that stand one place earlier or count from the end will do.
    """
    ids = ids.long()
    candidates = [whole[ids]]
    if not close(whole[0].double().sort().values, row.double().sort().values, atol=COARSE):
        earlier = torch.where((ids > 0)[:, None], whole[(ids - 1).clamp(min=0)], seen)
        candidates += [earlier, whole[len(whole) - 1 - ids]]
    own = min(candidates, key=lambda rows: float((seen - rows).abs().nan_to_num(torch.inf).max()))
    assert_like_own(seen, own, code="not_that_position", atol=ATOL)


def turns_batches(any_shape, student, x):
    """Whether batches are turned like single sequences; `values` pays where they are not."""
    seen = any_shape.observe("apply_rope", x)
    if not isinstance(seen, Returned) or not isinstance(seen.value, torch.Tensor):
        return False
    return seen.value.shape == x.shape and close(seen.value[1], student.apply_rope(x[1]), atol=SOME)


def follows_positions(student):
    """Whether given positions decide how rows are turned; `positions` pays where they do not."""
    row = torch.tensor([1.0, -0.5, 2.0, 1.5])
    whole = student.apply_rope(row.repeat(9, 1), positions=torch.arange(9))
    ids = torch.tensor([0, 2, 3, 8])
    return close(student.apply_rope(row.repeat(4, 1), positions=ids), whole[ids], atol=SOME)


def from_either_end(out, longer):
    """The rows of `longer`, one more than `out`, without the last or without the first.

    Positions may be counted from the end, which other criteria pay for.
    """
    ends = (longer[:-1].double(), longer[1:].double())
    return min(
        ends, key=lambda rows: float((out.double() - rows).abs().max().nan_to_num(torch.inf))
    )


@pytest.mark.criterion("turning")
def test_the_pairs_keep_their_length(student):
    x = torch.tensor([1.0, 2.0, -1.5, 0.5, 3.0, -2.0, 0.25, 4.0]).repeat(5, 1)
    out = student.apply_rope(x)
    assert_lengths_kept(out, x)


@pytest.mark.criterion("turning")
def test_scores_depend_only_on_the_distance(student):
    q = torch.tensor([1.0, 2.0, -1.0, 3.0, 2.0, -2.0]).repeat(6, 1)
    k = torch.tensor([2.0, 1.0, 3.0, -1.0, 1.0, 0.5]).repeat(6, 1)
    scores = student.apply_rope(q).double() @ student.apply_rope(k).double().T
    assert_changing(scores)
    assert_scores_alike(scores[1:, 1:], scores[:-1, :-1], seen_from=1, own_from=0, atol=TURN)


@pytest.mark.criterion("turning")
def test_every_pair_turns_by_an_angle_of_its_own(student):
    x = torch.eye(6).repeat(2, 1)
    out = student.apply_rope(x)
    assert_own_angles(out)


@pytest.mark.criterion("values")
def test_dimension_2i_is_turned_with_2i_plus_1(student, shown):
    x = torch.arange(1.0, 7.0).repeat(3, 1)
    assert_close(student.apply_rope(x)[1], shown["neighbours"][1], atol=ATOL)
    assert_close(student.apply_rope(x), shown["neighbours"], atol=ATOL)


@pytest.mark.criterion("values")
def test_a_batch(student, shown):
    x = torch.arange(72.0).reshape(3, 4, 6) / 16 - 2
    assert_close(student.apply_rope(x), shown["batch"], atol=ATOL)


@pytest.mark.criterion("values")
def test_a_batch_with_several_heads(student, shown):
    x = torch.arange(240.0).reshape(2, 3, 5, 8) / 64 - 2
    assert_close(student.apply_rope(x), shown["heads"], atol=ATOL)


@pytest.mark.criterion("values")
def test_large_numbers(student, shown):
    x = torch.arange(72.0).reshape(3, 4, 6) * 512 - 16384
    assert_close(student.apply_rope(x) / 8192, shown["batch"], atol=ATOL)


@pytest.mark.criterion("values")
def test_256_numbers_in_a_row(student, shown):
    x = (torch.arange(256.0) / 128 - 1).repeat(3, 1)
    assert_close(student.apply_rope(x)[:, -6:], shown["wide"], atol=ATOL)


@pytest.mark.criterion("values")
def test_a_single_pair(student, shown):
    x = torch.tensor([3.0, 4.0]).repeat(8, 1)
    assert_close(student.apply_rope(x), shown["single"], atol=ATOL)


@pytest.mark.criterion("positions")
def test_positions_with_gaps(student):
    row = torch.arange(1.0, 7.0)
    whole = student.apply_rope(row.repeat(12, 1))
    ids = torch.tensor([2, 3, 7, 11])
    out = student.apply_rope(row.repeat(4, 1), positions=ids)
    assert_rows_at(out, whole, ids, row)
    assert_turned(out)


@pytest.mark.criterion("positions")
def test_positions_in_any_order(student):
    row = torch.tensor([0.5, -1.0, 2.0, 1.5, -0.5, 1.0, 3.0, -2.0])
    whole = student.apply_rope(row.repeat(10, 1))
    ids = torch.tensor([9, 0, 4, 4, 1], dtype=torch.int32)
    out = student.apply_rope(row.repeat(5, 1), positions=ids)
    assert_rows_at(out, whole, ids, row)
    assert_turned(out)


@pytest.mark.criterion("positions")
def test_positions_of_a_batch(student, any_shape):
    x = torch.arange(48.0).reshape(2, 4, 6) / 16 - 1
    if not turns_batches(any_shape, student, x):
        return
    ids = torch.tensor([7, 2, 30, 3])
    out = any_shape.apply_rope(x, positions=ids)
    assert_like_own(
        out[1], student.apply_rope(x[1], positions=ids), code="batch_positions", atol=ATOL
    )


@pytest.mark.criterion("base")
def test_with_base_1_all_pairs_turn_alike(student):
    x = torch.ones(4, 6)
    usual = student.apply_rope(x)
    alike = student.apply_rope(x, base=1.0)
    assert_turned(alike)
    assert_base_matters(alike, usual, first=1.0, second=10000.0)
    assert_pairs_alike(alike)


@pytest.mark.criterion("base")
def test_base_100_in_place_of_10000(student, shown):
    x = torch.ones(6, 8)
    usual = student.apply_rope(x)
    out = student.apply_rope(x, base=100.0)
    assert_base_matters(out, usual, first=100.0, second=10000.0)
    assert_in_its_form(out, usual, shown["base_100"], shown["usual_base"])


@pytest.mark.criterion("manners")
def test_float32_stays_float32(student, memory):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5]).repeat(11, 1)
    out = student.apply_rope(x)
    assert_dtype(out, torch.float32)
    assert_turned(out)
    assert_as_before(out, memory)


@pytest.mark.criterion("manners")
def test_float64_stays_float64(student):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25]).repeat(6, 1)
    usual = student.apply_rope(x)
    out = student.apply_rope(x.double())
    assert_dtype(out, torch.float64)
    assert_turned(out)
    assert_like_own(out, usual, code="other_dtype", dtype="float64", atol=ATOL)


@pytest.mark.criterion("manners")
def test_bfloat16_stays_bfloat16_with_angles_in_float32(student):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25]).repeat(300, 1)
    usual = student.apply_rope(x)
    out = student.apply_rope(x.bfloat16())
    assert_dtype(out, torch.bfloat16)
    assert_turned(out)
    assert_like_own(out, usual, code="other_dtype", dtype="bfloat16", atol=BFLOAT16)
    assert_like_own(student.apply_rope(x), usual, code="not_as_before", atol=ATOL)


@pytest.mark.criterion("manners")
def test_bfloat16_with_given_positions(student):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25]).repeat(4, 1)
    ids = torch.tensor([3, 257, 261, 299])
    usual = student.apply_rope(x, positions=ids)
    out = student.apply_rope(x.bfloat16(), positions=ids)
    assert_like_own(out, usual, code="other_dtype", dtype="bfloat16", atol=BFLOAT16)


# A table that a float32 call left behind hides what a bfloat16 call computes by itself. So here
# bfloat16 comes first, and float32 gets one row more, for which such a table is too short.
@pytest.mark.criterion("manners")
def test_bfloat16_before_float32(student):
    row = torch.tensor([1.0, -0.5, 2.0, 1.5])
    out = student.apply_rope(row.repeat(300, 1).bfloat16())
    usual = student.apply_rope(row.repeat(301, 1))
    assert_turned(out)
    assert_like_own(
        out, from_either_end(out, usual), code="other_dtype", dtype="bfloat16", atol=BFLOAT16
    )


@pytest.mark.criterion("manners")
def test_the_input_is_left_unchanged(student):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25]).repeat(7, 1)
    kept = student.keep(x)
    first = student.apply_rope(kept)
    second = student.apply_rope(kept)
    assert_like_own(second, first, code="input_changed", atol=ATOL)
    assert_turned(second)


@pytest.mark.criterion("manners")
def test_the_positions_are_left_unchanged(student):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25]).repeat(3, 1)
    ids = torch.tensor([1, 5, 2])
    kept = student.keep(ids)
    first = student.apply_rope(x, positions=kept)
    second = student.apply_rope(x, positions=kept)
    assert_like_own(second, first, code="positions_changed", atol=ATOL)


@pytest.mark.criterion("manners")
def test_a_longer_call_in_between_changes_nothing(student):
    row = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25])
    first = student.apply_rope(row.repeat(4, 1))
    longer = student.apply_rope(row.repeat(9, 1))
    again = student.apply_rope(row.repeat(4, 1))
    assert_turned(longer)
    assert_like_own(again, first, code="not_as_before", atol=ATOL)


# Scores depend only on the distance, so far away they are what they are at the beginning.
@pytest.mark.criterion("long")
def test_scores_at_position_1000_are_those_at_position_0(student):
    x = torch.tensor([1.0, -0.5, 2.0, 0.5, -1.0, 1.25]).repeat(1100, 1)
    out = student.apply_rope(x).double()
    near, far = out[:8], out[1000:1008]
    assert_turned(far)
    assert_scores_alike(far @ far.T, near @ near.T, seen_from=1000, own_from=0, atol=FAR)


@pytest.mark.criterion("long")
def test_scores_at_position_1030_are_those_at_position_30(student):
    x = torch.tensor([0.5, 1.0, -1.0, 1.5, 1.0, 0.5, 0.25, -1.0]).repeat(1050, 1)
    out = student.apply_rope(x).double()
    near, far = out[30:38], out[1030:1038]
    assert_turned(far)
    assert_scores_alike(far @ far.T, near @ near.T, seen_from=1030, own_from=30, atol=FAR)


# Positions that wrap or stop somewhere keep the scores of rows on the same side of that place. More
# far ends than one, because from 16383 down nothing is carried when positions wrap at 2^k.
@pytest.mark.criterion("long")
def test_scores_across_2500_rows(student):
    x = torch.tensor([1.0, -0.5, 2.0, 0.5, -1.0, 1.25]).repeat(2500, 1)
    near = torch.tensor([0, 3, 64, 300, 500, 777, 1000, 1249])
    ids = torch.cat((near, 1600 - near, 2499 - near)).unique()
    assert_scores_across(student.apply_rope(x).double()[ids], ids)


@pytest.mark.criterion("long")
def test_scores_across_all_positions_up_to_16383(student):
    near = torch.tensor([0, 3, 411, 700, 1500, 2222, 3000, 5000, 7000, 8191])
    ids = torch.cat((near, 10000 - near, 12345 - near, 16383 - near)).unique()
    x = torch.tensor([1.0, -0.5, 2.0, 0.5, -1.0, 1.25]).repeat(len(ids), 1)
    if not follows_positions(student):
        return
    assert_scores_across(student.apply_rope(x, positions=ids).double(), ids)


@pytest.mark.criterion("manners")
def test_the_first_call_once_more_gives_the_same_answer(student, memory):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5]).repeat(11, 1)
    assert_as_before(student.apply_rope(x), memory)
