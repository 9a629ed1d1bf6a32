"""The hidden tests of hw1: the shown requirements on other inputs.

The expected values are float64 sums of single Python numbers, so that nothing here depends on
the broadcasting that the exercise is about.
"""

import pytest
import torch

from grader.model import Died, Returned
from grader.suite.compare import assert_close, assert_like_own, close, fail
from grader.suite.shapes import InShape

# The right sum of these inputs is exact in float32: 0 error. The slack is for detours such as
# dividing and multiplying again: half a unit in the last place below 128 is 3.8e-6. Nearest wrong
# answers: 1/8 with the coarse inputs; with k/1024 a sum in float16, which misses every odd k
# beyond 2 by 9.8e-4.
ATOL = 1e-5
SHAPES_OF_ONE = ((0, 0), (1, 0), (1, 1))


def added(tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The right answer in float64, number by number."""
    length, width = tokens.shape[-2:]
    table = [float(number) for number in positions.flatten()]
    numbers = [
        float(number) + table[index % (length * width)]
        for index, number in enumerate(tokens.flatten())
    ]
    return torch.tensor(numbers, dtype=torch.float64).reshape(tokens.shape)


def coarse(rng, *shape: int) -> torch.Tensor:
    """Multiples of 1/8 in [-2, 2], exact in every float type.

    Precision is paid for under `manners` alone, so the other criteria must not feel it.
    """
    return rng.integers(*shape, low=-16, high=16).float() / 8


def public_values() -> dict[str, torch.Tensor]:
    """What `public_values.json` holds: the answers to the shown tests."""
    square = torch.tensor([[0.5, -2.0, 1.0], [3.0, 0.25, -1.0], [-4.0, 2.0, 0.75]])
    with_zeros = torch.tensor([[2.0, -1.0], [0.0, 0.0], [0.5, 3.0], [-2.0, 1.5], [4.0, 0.25]])
    return {
        "example": added(*example()),
        "others": added(example()[0], torch.tensor([[-1.0, 0.25], [2.0, 0.5], [0.75, -3.0]])),
        "zeros": added(with_zeros, torch.arange(10.0).reshape(5, 2) / 4),
        "square": added(torch.arange(1.0, 10.0).reshape(3, 3), square),
        "batch": added(
            torch.arange(24.0).reshape(2, 3, 4) - 7, torch.arange(12.0).reshape(3, 4) / 4
        ),
        "batch_1ld": added(
            torch.arange(30.0).reshape(3, 5, 2) / 2, 4 - torch.arange(10.0).reshape(1, 5, 2)
        ),
        "batch_of_one": added(
            torch.tensor([[[3.0, -1.0], [0.5, 2.0], [1.0, 1.0]]]),
            torch.tensor([[[1.0, 0.25], [-2.0, 0.5], [4.0, -1.0]]]),
        ),
        "cube": added(9 - torch.arange(27.0).reshape(3, 3, 3), square),
        "fractions": added(
            torch.arange(1.0, 13.0).reshape(4, 3) / 7, torch.arange(12.0).reshape(4, 3) / 3
        ),
        "try_a_shape": added(
            torch.tensor([[1.0, 4.0], [2.0, -1.0], [0.5, 3.0]]),
            torch.tensor([[0.25, 2.0], [-3.0, 1.0], [5.0, -0.5]]),
        ),
        "large": added(
            torch.tensor([[16384.0, -4096.0], [1.0, 8192.0], [-16384.0, 0.5]]),
            torch.tensor([[2048.0, 12288.0], [-1.0, -16384.0], [-4096.0, 0.25]]),
        ),
        "alone": added(torch.arange(12.0).reshape(4, 3) - 5, torch.arange(12.0).reshape(4, 3) / 4),
        "tokens_before": torch.arange(1.0, 9.0).reshape(4, 2).double(),
        "positions_before": torch.arange(5.0, 13.0).reshape(4, 2).double(),
    }


def example() -> tuple[torch.Tensor, torch.Tensor]:
    """The worked example of the handout, which is also the first shown test."""
    tokens = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    positions = torch.tensor([[0.0, 0.5], [0.25, -1.0], [1.0, 0.0]])
    return tokens, positions


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
    """The submission; as in the shown tests only `batches` charges for the shape.

    Everywhere else it gets its sentence in the first of the three shapes in which it is right.
    """
    if request.node.get_closest_marker("criterion").args[0] == "batches":
        return student
    if "axes" not in known:
        known["axes"] = axes_that_work(student)
    return InShape(student, known["axes"]) if any(known["axes"]) else student


def axes_that_work(student):
    """How many axes must stand in front of the (L, D) of both inputs."""
    tokens = torch.tensor([[1.0, 4.0], [2.0, -1.0], [0.5, 3.0]])
    positions = torch.tensor([[0.25, 2.0], [-3.0, 1.0], [5.0, -0.5]])
    want = added(tokens, positions)
    for axes in SHAPES_OF_ONE:
        given = [
            each.reshape(*[1] * a, 3, 2) for each, a in zip((tokens, positions), axes, strict=True)
        ]
        seen = student.observe("add_position_vectors", *given)
        if isinstance(seen, Died):
            break  # asking again would only spend the submission's time
        if isinstance(seen, Returned) and is_right(seen.value, want.reshape(given[0].shape)):
            return axes
    return 0, 0


def is_right(value, want):
    return isinstance(value, torch.Tensor) and close(value, want, atol=ATOL)


LENGTHS = [(5, 3), (3, 7), (4, 4), (1, 6), (6, 1)]
# The handout promises sizes up to 1000: whatever ends or wraps before loses some of the last rows.
LARGE = [(1000, 2), (2, 1000)]


@pytest.mark.criterion("values")
@pytest.mark.parametrize("length, width", LENGTHS + LARGE)
def test_one_sentence(student, rng, length, width):
    tokens = coarse(rng, length, width)
    positions = coarse(rng, length, width)
    seen = student.add_position_vectors(tokens, positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)


@pytest.mark.criterion("values")
def test_tokens_and_positions_that_hold_zeros(student, rng):
    tokens = coarse(rng, 6, 4)
    tokens[rng.integer(0, 5)] = 0.0
    tokens[:, rng.integer(0, 3)] = 0.0
    positions = coarse(rng, 6, 4)
    positions[rng.integer(0, 5)] = 0.0
    seen = student.add_position_vectors(tokens, positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)


@pytest.mark.criterion("values")
@pytest.mark.parametrize("unit", [1.0, 2048.0])
def test_numbers_far_from_zero(student, rng, unit):
    # With few digits, so that they are exact in every float type, up to 2^15.
    tokens = rng.integers(4, 5, low=-8, high=8).float() * unit
    positions = rng.integers(4, 5, low=-7, high=7).float() * unit
    seen = student.add_position_vectors(tokens, positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)


@pytest.mark.criterion("values")
def test_two_tables_in_turn(student, rng):
    tokens = coarse(rng, 5, 3)
    for positions in (coarse(rng, 5, 3), coarse(rng, 5, 3)):
        seen = student.add_position_vectors(tokens, positions)
        assert_close(seen, added(tokens, positions), atol=ATOL)


# All different; each pair of axes equal; all equal; axes of length 1.
SHAPES = [(2, 5, 3), (4, 4, 3), (3, 5, 5), (4, 3, 4), (3, 3, 3), (1, 4, 3), (3, 1, 2), (2, 4, 1)]


@pytest.mark.criterion("batches")
@pytest.mark.parametrize("length, width", [(6, 4), (3, 3)])
def test_a_sentence_alone(student, rng, length, width):
    tokens, positions = coarse(rng, length, width), coarse(rng, length, width)
    seen = student.add_position_vectors(tokens, positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)


@pytest.mark.criterion("batches")
@pytest.mark.parametrize("batch, length, width", [*SHAPES, (1000, 2, 2)])
def test_a_batch_with_positions_l_d(student, rng, batch, length, width):
    tokens = coarse(rng, batch, length, width)
    positions = coarse(rng, length, width)
    seen = student.add_position_vectors(tokens, positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)


@pytest.mark.criterion("batches")
@pytest.mark.parametrize("batch, length, width", SHAPES)
def test_a_batch_with_positions_1_l_d(student, rng, batch, length, width):
    tokens = coarse(rng, batch, length, width)
    positions = coarse(rng, 1, length, width)
    seen = student.add_position_vectors(tokens, positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)


@pytest.mark.criterion("manners")
def test_no_digit_is_lost(student, rng):
    tokens, positions = rng.tensor(7, 5), rng.tensor(7, 5)
    seen = student.add_position_vectors(tokens, positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)


@pytest.mark.criterion("manners")
def test_the_inputs_of_one_sentence_stay_as_they_were(student, rng):
    tokens, positions = rng.tensor(5, 3), rng.tensor(5, 3)
    kept_tokens, kept_positions = student.keep(tokens), student.keep(positions)
    student.add_position_vectors(kept_tokens, kept_positions)
    seen = student.add_position_vectors(kept_tokens, kept_positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)
    nothing = torch.zeros(5, 3)
    assert_close(student.add_position_vectors(kept_tokens, nothing), tokens.double(), atol=ATOL)
    seen = student.add_position_vectors(nothing, kept_positions)
    assert_close(seen, positions.double(), atol=ATOL)


@pytest.mark.criterion("manners")
def test_the_inputs_of_a_batch_stay_as_they_were(any_shape, rng):
    """Only a change counts here: a wrong or missing answer for batches is paid for there.

    Both shapes in one test, because a submission that dies on batches has three lives only.
    """
    for positions in (rng.tensor(4, 3), rng.tensor(1, 4, 3)):
        inputs = any_shape.keep(rng.tensor(2, 4, 3)), any_shape.keep(positions)
        first = any_shape.observe("add_position_vectors", *inputs)
        if not isinstance(first, Returned) or not isinstance(first.value, torch.Tensor):
            return
        again = any_shape.observe("add_position_vectors", *inputs)
        if not isinstance(again, Returned):
            fail("second_call")
        assert_like_own(again.value, first.value, code="second_call_differs", atol=0.0)


@pytest.mark.criterion("values")
def test_the_first_call_once_more_gives_the_same_answer(student):
    tokens, positions = example()
    seen = student.add_position_vectors(tokens, positions)
    assert_close(seen, added(tokens, positions), atol=ATOL)
