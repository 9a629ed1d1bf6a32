"""The hidden tests of hw4: the shown requirements on other inputs.

The expected values come from complex multiplication in float64, written apart from the model
solution. What another criterion pays for is read off the submission's own numbers, as in the
shown tests.
"""

import functools
import itertools
import math

import pytest
import torch

from grader.model import Died, Returned
from grader.suite.compare import assert_close, assert_dtype, assert_like_own, close, fail
from grader.suite.shapes import InShape

# Scores are products of two rows of at most 10 numbers up to 2. Float32 angles at position p are
# off by about 6e-8 p; so scores by 40 · 6e-8 · p: 2e-5 at p = 8 and 6e-3 at p = 2500. `turning`
# forgives half precision (angles in float16: 0.01 up to p = 8; cosines and sines in bfloat16: 0.07
# in 10,000 draws), which `values` and `long` pay for; what is no turn misses by 0.3 and more.
TURN = 0.1
FAR = 8e-3
SOME = 1e-3
LEAST = 1e-6
COARSE = 5e-3
# At position 16383 angles are off by 1.6e-3; rows of 6 numbers between 0.5 and 1.5 have scores of
# at most 13.5, which it moves by 0.05. A wrap or an end anywhere moves one of them by 0.3 and more.
WIDE = 0.1
LAST = 16383
# See the shown tests; with numbers up to 2.
BFLOAT16 = 0.03

# The ways to miss a frequency that `values` pays for, the right one first.
EXPONENTS = (
    lambda i, d: 2 * i / d,
    lambda i, d: i / d,
    lambda i, d: 4 * i / d,
    lambda i, d: (2 * i + 1) / d,
    lambda i, d: (2 * i + 2) / d,
    lambda i, d: (2 * i - 2) / d,
    lambda i, d: 2 * i / (d - 2),
    lambda i, d: -2 * i / d,
)
STARTS = (0, 1)
SPEEDS = (1.0, 2.0, 2 * math.pi, math.pi, math.pi / 180)
# Sine and cosine in each other's place are a quarter turn ahead.
PHASES = (0.0, -math.pi / 2)
FORMS = tuple(itertools.product(EXPONENTS, STARTS, SPEEDS, PHASES))


def atol(last_position: int, width: int = 8) -> float:
    """What float32 may be off by, for numbers up to 2; nearest wrong values miss by 0.05."""
    return max(1e-5, 5e-7 * last_position) * (4 if width >= 64 else 1)


def rope(x, positions=None, base=10000.0, form=FORMS[0]):
    """The right answer in float64 (or that of another form): pairs as complex numbers."""
    exponent, start, speed, phase = form
    length, width = x.shape[-2:]
    positions = torch.arange(length) if positions is None else positions
    rates = [speed * math.exp(-exponent(i, width) * math.log(base)) for i in range(width // 2)]
    steps = (positions.double() + start)[:, None] * torch.tensor(rates, dtype=torch.float64) + phase
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    turned = pairs * torch.polar(torch.ones_like(steps), steps)
    return torch.view_as_real(turned).flatten(-2)


@functools.cache
def all_forms(length, width, base):
    """Rows of ones turned in every form, and sorted: pairing and direction are lost."""
    ones = torch.ones(length, width)
    return torch.stack([rope(ones, base=base, form=form).sort().values for form in FORMS])


def public_values() -> dict[str, torch.Tensor]:
    """What `public_values.json` holds: the answers to the shown tests."""
    return {
        "neighbours": rope(torch.arange(1.0, 7.0).repeat(3, 1)),
        "batch": rope(torch.arange(72.0).reshape(3, 4, 6) / 16 - 2),
        "heads": rope(torch.arange(240.0).reshape(2, 3, 5, 8) / 64 - 2),
        "wide": rope((torch.arange(256.0) / 128 - 1).repeat(3, 1))[:, -6:],
        "single": rope(torch.tensor([3.0, 4.0]).repeat(8, 1)),
        "usual_base": all_forms(6, 8, 10000.0)[:, 5],
        "base_100": all_forms(6, 8, 100.0)[:, 5],
    }


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
    """As in the shown tests: only `values` charges for a function that takes some shapes only."""
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


def a_row(rng, width):
    """A row without small numbers, so that every pair shows its turn."""
    signs = torch.tensor([rng.choice([-1.0, 1.0]) for _ in range(width)])
    return rng.tensor(width, low=0.5, high=2.0) * signs


def check_turned(seen):
    change = seen[1:] - seen[:1]
    if not bool(((change.amax(-1) - change.amin(-1)) > SOME).any()):
        fail("nothing_turned" if not bool((change.abs() > SOME).any()) else "only_added")


def lengths_of_pairs(rows):
    """Length of each pair, once for neighbours and once for halves."""
    left, right = rows.double().chunk(2, dim=-1)
    pairs = rows.double().unflatten(-1, (-1, 2))
    return (pairs.norm(dim=-1), torch.stack((left, right)).norm(dim=0))


def check_scores(seen, own, *, atol):
    assert_like_own(seen, own, code="scores_moved", atol=atol)


def check_scores_across(seen, ids):
    """Rows at p and q have the product of the rows at 0 and q - p, where all three are there."""
    places = ids.tolist()
    at = {place: row for row, place in enumerate(places)}
    pairs = [(p, q) for p, q in itertools.combinations(places, 2) if q - p in at]
    firsts, seconds = ([at[each] for each in side] for side in zip(*pairs, strict=True))
    distant = seen[[at[q - p] for p, q in pairs]] @ seen[0]
    check_scores((seen[firsts] * seen[seconds]).sum(-1), distant, atol=WIDE)


def both_ends(rng, last):
    """Positions drawn from the whole range, each with its counterparts from two far ends.

    Two, because from 2^k - 1 down nothing is carried when positions wrap at a power of two.
    """
    near = [rng.integer(1, last // 2) for _ in range(8)]
    ends = (last, last - rng.integer(last // 8, last // 4), last // 2 + rng.integer(0, last // 16))
    return torch.tensor(sorted({0, *near, *(end - each for end in ends for each in (0, *near))}))


@pytest.mark.criterion("turning")
@pytest.mark.parametrize("length, width", [(7, 6), (5, 8), (9, 10), (3, 6)])
def test_lengths_of_pairs(student, rng, length, width):
    x = rng.tensor(length, width)
    seen = student.apply_rope(x)
    combinations = itertools.product(lengths_of_pairs(seen), lengths_of_pairs(x))
    after, before = min(
        combinations, key=lambda each: float((each[0] - each[1]).abs().max().nan_to_num(9.0))
    )
    assert_like_own(after, before, code="pair_lengths", atol=TURN)


@pytest.mark.criterion("turning")
@pytest.mark.parametrize("length, width", [(7, 6), (5, 8), (4, 10)])
def test_scores(student, rng, length, width):
    queries = student.apply_rope(a_row(rng, width).repeat(length, 1)).double()
    keys = student.apply_rope(a_row(rng, width).repeat(length, 1)).double()
    scores = queries @ keys.T
    if bool(((scores - scores[0, 0]).abs() < SOME).all()):
        fail("scores_never_change")
    check_scores(scores[1:, 1:], scores[:-1, :-1], atol=TURN)


@pytest.mark.criterion("turning")
@pytest.mark.parametrize("width", [4, 6, 8])
def test_every_pair_turns_by_an_angle_of_its_own(student, rng, width):
    sizes = rng.tensor(width, low=0.5, high=2.0)
    out = student.apply_rope(torch.diag(sizes).repeat(2, 1)).double()
    first, second = (rows / rows.norm(dim=-1, keepdim=True) for rows in out.chunk(2))
    cosines = (first * second).sum(-1)
    sines = (second - cosines[:, None] * first).norm(dim=-1)
    moved = sines > LEAST
    if not bool(moved.all()):
        column = int(moved.int().argmin())
        fail("pair_not_turned", column=column, first=column, second=column + width)
    angles = torch.atan2(sines, cosines)
    if not bool(angles.amax() - angles.amin() > SOME):
        fail("pairs_turn_alike")


SHAPES = [(7, 6), (5, 8), (1, 6), (6, 2), (2, 7, 6), (3, 5, 8), (6, 6, 6), (2, 3, 7, 6)]
MORE_SHAPES = [
    (3, 256),
    (2, 3, 5, 8),
    (3, 2, 4, 10),
    (4, 4, 4, 4),
    (1, 5, 1, 8),
    (50, 6),
    (2, 20, 64),
]


@pytest.mark.criterion("values")
@pytest.mark.parametrize("shape", SHAPES + MORE_SHAPES)
def test_values(student, rng, shape):
    x = rng.tensor(*shape)
    assert_close(student.apply_rope(x), rope(x), atol=atol(shape[-2], shape[-1]))


@pytest.mark.criterion("values")
def test_large_numbers(student, rng):
    x = rng.tensor(2, 6, 8)
    assert_close(student.apply_rope(x * 2.0**13) / 2.0**13, rope(x), atol=atol(6))


def check_rows(seen, whole, ids, row):
    """Equal rows with given positions are those of a whole sequence at these positions.

    A whole sequence that does not begin at position 0 begins at 1 or runs backwards, which
    `values` pays for: then the rows that stand one place earlier or count from the end will do.
    """
    candidates = [whole[ids]]
    if not close(whole[0].double().sort().values, row.double().sort().values, atol=COARSE):
        earlier = torch.where((ids > 0)[:, None], whole[(ids - 1).clamp(min=0)], seen)
        candidates += [earlier, whole[len(whole) - 1 - ids]]
    own = min(candidates, key=lambda rows: float((seen - rows).abs().nan_to_num(9.0).max()))
    assert_like_own(seen, own, code="not_that_position", atol=atol(len(whole)))


def check_positions(student, rng, ids, width):
    row = a_row(rng, width)
    whole = student.apply_rope(row.repeat(int(ids.max()) + 3, 1))
    seen = student.apply_rope(row.repeat(len(ids), 1), positions=ids)
    check_rows(seen, whole, ids.long(), row)
    check_turned(whole)


def follows_positions(student):
    """Whether given positions decide how rows are turned; `positions` pays where they do not."""
    row = torch.tensor([1.0, -0.5, 2.0, 1.5])
    whole = student.apply_rope(row.repeat(9, 1), positions=torch.arange(9))
    ids = torch.tensor([0, 2, 3, 8])
    return close(student.apply_rope(row.repeat(4, 1), positions=ids), whole[ids], atol=SOME)


@pytest.mark.criterion("positions")
@pytest.mark.parametrize("width", [6, 8])
def test_gaps(student, rng, width):
    steps = rng.integers(6, low=2, high=50)
    check_positions(student, rng, steps.cumsum(0), width)


@pytest.mark.criterion("positions")
def test_an_offset(student, rng):
    check_positions(student, rng, torch.arange(5) + rng.integer(3, 250), 6)


@pytest.mark.criterion("positions")
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_any_order(student, rng, dtype):
    ids = torch.tensor([rng.integer(260, 299), *rng.permutation(9)], dtype=dtype)
    check_positions(student, rng, ids, 8)


@pytest.mark.criterion("positions")
def test_one_place_for_all(student, rng):
    row, place = a_row(rng, 6), rng.integer(5, 40)
    whole = student.apply_rope(row.repeat(place + 3, 1))
    seen = student.apply_rope(row.repeat(4, 1), positions=torch.full((4,), place))
    check_rows(seen, whole, torch.full((4,), place), row)
    check_turned(whole)


@pytest.mark.criterion("positions")
def test_batches_and_heads(student, any_shape, rng):
    x = rng.tensor(2, 3, 4, 6)
    plain = any_shape.observe("apply_rope", x)
    if not isinstance(plain, Returned) or not isinstance(plain.value, torch.Tensor):
        return
    alone = student.apply_rope(x[1, 2])
    if plain.value.shape != x.shape or not close(plain.value[1, 2], alone, atol=SOME):
        return
    ids = rng.integers(4, low=0, high=60)
    seen = any_shape.apply_rope(x, positions=ids)
    own = student.apply_rope(x[1, 2], positions=ids)
    assert_like_own(seen[1, 2], own, code="batch_positions", atol=atol(60))


@pytest.mark.criterion("base")
@pytest.mark.parametrize("power", [0, 1, 2, 3, 5, 6])
def test_another_base(student, rng, power):
    base, width = float(rng.integer(2, 9) * 10**power), rng.choice([6, 8])
    x = torch.ones(5, width)
    usual, seen = student.apply_rope(x).double(), student.apply_rope(x, base=base).double()
    if not bool(((seen - usual).abs() > 1e-5).any()):
        fail("base_ignored", first=base, second=10000.0)
    if close(usual[-1], torch.ones(width), atol=SOME):
        # Positions are counted from the end.
        usual, seen = usual.flip(0), seen.flip(0)
    losses = (all_forms(5, width, 10000.0) - usual.sort().values).abs().flatten(1).amax(-1)
    form = int(losses.nan_to_num(torch.inf).argmin())
    if not bool(losses[form] <= COARSE):
        fail("base_unknown")
    numbers, want = seen.sort().values, all_forms(5, width, base)[form]
    if form == 0:
        # Half precision misses by 1e-4 here, which `values` pays for; another base by 0.01.
        assert_close(numbers, want, atol=COARSE)
    else:
        # In a wrong form rates may be above 1, up to 2e5, so that float32 angles are off by 0.02.
        assert_like_own(numbers, want, code="base_in_your_form", atol=0.05)


@pytest.mark.criterion("base")
@pytest.mark.parametrize("width", [6, 8, 10])
def test_base_1(student, width):
    seen = student.apply_rope(torch.ones(6, width), base=1.0)
    check_turned(seen)
    halves = seen.double().sort(dim=-1).values.unflatten(-1, (2, -1))
    spread = (halves.amax(-1) - halves.amin(-1)).amax(-1)
    if not bool((spread <= 1e-5).all()):
        fail("base_one", position=int(spread.nan_to_num(torch.inf).argmax()))


@pytest.mark.criterion("manners")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("length", [6, 290])
def test_dtypes(student, rng, memory, dtype, length):
    early = student.apply_rope(torch.ones(3, 10))
    assert_like_own(early, memory.setdefault("early", early), code="not_as_before", atol=1e-5)
    # Multiples of 1/8 up to 2 are the same in every dtype.
    row = rng.integers(8, low=4, high=16).float() / 8
    usual, seen = (student.apply_rope(row.repeat(length, 1).to(d)) for d in (torch.float32, dtype))
    assert_dtype(seen, dtype)
    check_turned(seen)
    bound = BFLOAT16 if dtype == torch.bfloat16 else atol(length)
    assert_like_own(seen, usual, code="other_dtype", dtype=str(dtype)[6:], atol=bound)
    again = student.apply_rope(row.repeat(length, 1))
    assert_like_own(again, usual, code="not_as_before", atol=1e-6)


@pytest.mark.criterion("manners")
def test_bfloat16_with_given_positions(student, rng):
    x = rng.integers(5, 6, low=4, high=16).float() / 8
    odd = [2 * rng.integer(128, 148) + 1 for _ in range(4)]
    ids = torch.tensor([rng.integer(0, 255), *odd])
    usual = student.apply_rope(x, positions=ids)
    seen = student.apply_rope(x.bfloat16(), positions=ids)
    assert_like_own(seen, usual, code="other_dtype", dtype="bfloat16", atol=BFLOAT16)


# In a width of its own, so that no earlier call has left a table behind.
@pytest.mark.criterion("manners")
def test_bfloat16_before_float32(student, rng):
    length = rng.integer(270, 300)
    row = rng.integers(12, low=4, high=16).float() / 8
    seen = student.apply_rope(row.repeat(length, 1).bfloat16())
    usual = student.apply_rope(row.repeat(length + 1, 1))
    check_turned(seen)
    # Positions may be counted from the end, which other criteria pay for.
    ends = (usual[:-1].double(), usual[1:].double())
    losses = [float((seen.double() - rows).abs().max().nan_to_num(9.0)) for rows in ends]
    own = ends[losses.index(min(losses))]
    assert_like_own(seen, own, code="other_dtype", dtype="bfloat16", atol=BFLOAT16)


@pytest.mark.criterion("manners")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_inputs_stay_as_they_were(student, rng, dtype):
    x = student.keep(a_row(rng, 6).repeat(5, 1).to(dtype))
    ids = student.keep(rng.integers(5, low=0, high=30))
    first = student.apply_rope(x)
    student.apply_rope(x, positions=ids)
    assert_like_own(student.apply_rope(x), first, code="input_changed", atol=1e-6)
    check_turned(first)
    first = student.apply_rope(x, positions=ids)
    again = student.apply_rope(x, positions=ids)
    assert_like_own(again, first, code="positions_changed", atol=1e-6)


@pytest.mark.criterion("manners")
@pytest.mark.parametrize("width", [6, 8])
def test_lengths_in_turn(student, rng, width):
    row = a_row(rng, width)
    seen = [student.apply_rope(row.repeat(length, 1)) for length in (4, 9, 4, 1, 9)]
    check_turned(seen[1])
    assert_like_own(seen[2], seen[0], code="not_as_before", atol=1e-6)
    assert_like_own(seen[4], seen[1], code="not_as_before", atol=1e-6)


@pytest.mark.criterion("long")
@pytest.mark.parametrize("width", [6, 8])
def test_far_away(student, rng, width):
    # Beyond 2048 float16 holds no odd number, so positions that passed through it show.
    length = rng.integer(2070, 2500)
    out = student.apply_rope(a_row(rng, width).repeat(length, 1)).double()
    near, far = out[:9], out[-9:]
    check_turned(far)
    check_scores(far @ far.T, near @ near.T, atol=FAR)
    middle = rng.integer(257, 1000)
    steps = out[middle : middle + 9]
    check_scores(steps @ steps.T, near @ near.T, atol=FAR)
    ids = both_ends(rng, length - 1)
    check_scores_across(out[ids], ids)


@pytest.mark.criterion("long")
def test_given_positions_far_away(student, rng):
    if not follows_positions(student):
        return
    ids = both_ends(rng, LAST)
    row = rng.tensor(6, low=0.5, high=1.5)
    check_scores_across(student.apply_rope(row.repeat(len(ids), 1), positions=ids).double(), ids)


@pytest.mark.criterion("manners")
def test_the_first_call_once_more_gives_the_same_answer(student, memory):
    late = student.apply_rope(torch.ones(3, 10))
    assert_like_own(late, memory.setdefault("early", late), code="not_as_before", atol=1e-5)
