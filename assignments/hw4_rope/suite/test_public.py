"""The shown tests of hw4: inputs that can be pasted, stored float64 results, and properties.

Only `values` asks for this task's conventions. The other criteria are met in either pairing and
direction: they compare the submission with itself, or look at rows of equal numbers, where the
pairing shows in the order of the result only.
"""

import pytest
import torch

from grader.suite.compare import assert_close, assert_dtype, fail

# Float32 is off by 1e-6 at positions up to 8 with numbers up to 8. The nearest wrong values: angles
# or tables in half precision miss by 2e-4, everything else by 0.05 and more.
ATOL = 1e-5
# `turning` is about what turns, not how exactly: float32 is off by 1e-4 in products of rows (which
# are up to 30), float16 by 0.01, cosines and sines rounded to bfloat16 (2 ** -9 of themselves) by
# 0.04, and what is no turn misses by 0.3 and more.
TURN = 0.1
# More than rounding can do in any dtype but bfloat16, less than a pair moves in a few steps.
SOME = 1e-3
# Float32 angles at position 1000 are off by 6e-5, which moves scores of 8 by less than 1e-3. Angles
# in half precision, or a table that has ended, move them by 0.05 and more.
FAR = 1e-3
# What a bfloat16 result may be off by, with numbers up to 2: cos and sin rounded (2 ** -9 of
# themselves), two products and their sum rounded, 0.021 in all. Angles in bfloat16 miss by 0.3
# and more from position 257 on, which bfloat16 does not have.
BFLOAT16 = 0.03


@pytest.fixture(scope="module")
def memory():
    """What a call gave when it was made first."""
    return {}


def assert_as_before(seen, memory):
    assert_close(seen, memory.setdefault("early", seen), atol=ATOL)


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


def assert_all_moved(seen, other, *, first, second):
    """Each number differs from that of another position, by more than rounding could do."""
    moved = (seen.double() - other.double()).abs() > 1e-6
    if not bool(moved.all()):
        fail("pair_not_turned", column=int(moved.int().argmin()), first=first, second=second)


def assert_turned(seen):
    """Equal rows came back different, and not by one number added to all: something was turned."""
    change = seen[1:] - seen[:1]
    if not bool(((change.amax(-1) - change.amin(-1)) > SOME).any()):
        fail("nothing_turned")


def assert_pairs_alike(seen):
    """Rows of ones, turned by one angle: half of the numbers are cos - sin, half cos + sin."""
    halves = seen.double().sort(dim=-1).values.unflatten(-1, (2, -1))
    spread = (halves.amax(-1) - halves.amin(-1)).amax(-1)
    if not bool((spread <= ATOL).all()):
        fail("base_one", position=int(spread.nan_to_num(torch.inf).argmax()))


def assert_base_matters(seen, other, *, first, second):
    if not bool(((seen - other).abs() > ATOL).any()):
        fail("base_ignored", first=first, second=second)


def in_the_same_form(seen, usual, answers, usual_answers):
    """The answer that belongs to the way in which the submission answers with the usual base.

    The stored answers are those of known mistakes that other criteria pay for, the right one
    first. A submission with another mistake is not compared with any.
    """
    distances = (usual_answers - usual.double().sort().values).abs().amax(-1)
    nearest = int(distances.argmin())
    return answers[nearest] if distances[nearest] <= 2 * ATOL else seen


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
    assert_close(scores[1:, 1:], scores[:-1, :-1], atol=TURN)


@pytest.mark.criterion("turning")
def test_every_pair_turns_from_the_first_step_on(student):
    x = torch.arange(1.0, 7.0).repeat(2, 1)
    out = student.apply_rope(x)
    assert_all_moved(out[1], out[0], first=0, second=1)


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
def test_a_single_pair(student, shown):
    x = torch.tensor([3.0, 4.0]).repeat(8, 1)
    assert_close(student.apply_rope(x), shown["single"], atol=ATOL)


@pytest.mark.criterion("positions")
def test_positions_with_gaps(student):
    row = torch.arange(1.0, 7.0)
    whole = student.apply_rope(row.repeat(12, 1))
    ids = torch.tensor([2, 3, 7, 11])
    out = student.apply_rope(row.repeat(4, 1), positions=ids)
    assert_close(out, whole[ids], atol=ATOL)
    assert_turned(out)


@pytest.mark.criterion("positions")
def test_positions_in_any_order(student):
    row = torch.tensor([0.5, -1.0, 2.0, 1.5, -0.5, 1.0, 3.0, -2.0])
    whole = student.apply_rope(row.repeat(10, 1))
    ids = torch.tensor([9, 0, 4, 4, 1], dtype=torch.int32)
    out = student.apply_rope(row.repeat(5, 1), positions=ids)
    assert_close(out, whole[ids], atol=ATOL)
    assert_turned(out)


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
    x = torch.ones(2, 6)
    usual = student.apply_rope(x)
    out = student.apply_rope(x, base=100.0)
    assert_base_matters(out, usual, first=100.0, second=10000.0)
    assert_close(
        out[1].sort().values,
        in_the_same_form(out[1].sort().values, usual[1], shown["base_100"], shown["usual_base"]),
        atol=SOME,
    )


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
    assert_close(out, usual, atol=ATOL)


@pytest.mark.criterion("manners")
def test_bfloat16_stays_bfloat16_with_angles_in_float32(student):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25]).repeat(300, 1)
    usual = student.apply_rope(x)
    out = student.apply_rope(x.bfloat16())
    assert_dtype(out, torch.bfloat16)
    assert_turned(out)
    assert_close(out, usual, atol=BFLOAT16)
    assert_close(student.apply_rope(x), usual, atol=ATOL)


# A table that a float32 call left behind hides what a bfloat16 call computes by itself. So here
# bfloat16 comes first, and float32 gets one row more, for which such a table is too short.
@pytest.mark.criterion("manners")
def test_bfloat16_before_float32(student):
    row = torch.tensor([1.0, -0.5, 2.0, 1.5])
    out = student.apply_rope(row.repeat(300, 1).bfloat16())
    usual = student.apply_rope(row.repeat(301, 1))
    assert_turned(out)
    assert_close(out, from_either_end(out, usual), atol=BFLOAT16)


@pytest.mark.criterion("manners")
def test_the_input_is_left_unchanged(student):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25]).repeat(7, 1)
    kept = student.keep(x)
    first = student.apply_rope(kept)
    second = student.apply_rope(kept)
    assert_close(second, first, atol=ATOL)
    assert_turned(second)


@pytest.mark.criterion("manners")
def test_the_positions_are_left_unchanged(student):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25]).repeat(3, 1)
    ids = torch.tensor([1, 5, 2])
    kept = student.keep(ids)
    first = student.apply_rope(x, positions=kept)
    second = student.apply_rope(x, positions=kept)
    assert_close(second, first, atol=ATOL)


@pytest.mark.criterion("manners")
def test_a_longer_call_in_between_changes_nothing(student):
    row = torch.tensor([1.0, -0.5, 2.0, 1.5, -1.0, 0.25])
    first = student.apply_rope(row.repeat(4, 1))
    longer = student.apply_rope(row.repeat(9, 1))
    again = student.apply_rope(row.repeat(4, 1))
    assert_turned(longer)
    assert_close(again, first, atol=ATOL)


# Scores depend only on the distance, so far away they are what they are at the beginning.
@pytest.mark.criterion("long")
def test_scores_at_position_1000_are_those_at_position_0(student):
    x = torch.tensor([1.0, -0.5, 2.0, 0.5, -1.0, 1.25]).repeat(1100, 1)
    out = student.apply_rope(x).double()
    assert_turned(out[1000:1008])
    assert_close(out[1000:1008] @ out[1000:1008].T, out[:8] @ out[:8].T, atol=FAR)


@pytest.mark.criterion("long")
def test_scores_at_position_1030_are_those_at_position_30(student):
    x = torch.tensor([0.5, 1.0, -1.0, 1.5, 1.0, 0.5, 0.25, -1.0]).repeat(1050, 1)
    out = student.apply_rope(x).double()
    assert_turned(out[1030:1038])
    assert_close(out[1030:1038] @ out[1030:1038].T, out[30:38] @ out[30:38].T, atol=FAR)


@pytest.mark.criterion("manners")
def test_the_first_call_once_more_gives_the_same_answer(student, memory):
    x = torch.tensor([1.0, -0.5, 2.0, 1.5]).repeat(11, 1)
    assert_as_before(student.apply_rope(x), memory)
