"""The shown tests of hw1: inputs that can be pasted, and stored float64 results."""

import pytest
import torch

from grader.model import Died, Returned
from grader.suite.compare import assert_close, close
from grader.suite.shapes import InShape

# Float32 rounds a sum below 64 by at most 1.9e-6 (half a unit in the last place), and the answer
# may take a detour. The nearest wrong numbers: multiples of 1/4 differ by 1/4, and the sevenths
# and thirds of the precision test are missed by 1e-3 in float16, by 9e-3 in bfloat16.
ATOL = 1e-5
# One sentence as (L, D), or as a batch of one with positions (L, D) or (1, L, D).
SHAPES_OF_ONE = ((0, 0), (1, 0), (1, 1))


@pytest.fixture(scope="module")
def known():
    """What these tests found out about the submission; it lives as long as they do."""
    return {}


@pytest.fixture
def any_shape(student):
    """The submission as it is, whatever shape `student` gives it."""
    return student.as_it_is if isinstance(student, InShape) else student


@pytest.fixture
def student(student, shown, request, known):
    """The submission; one that takes batches alone pays for that under `batches`.

    Everywhere else it gets its sentence in the first of the three shapes in which it is right.
    """
    if request.node.get_closest_marker("criterion").args[0] == "batches":
        return student
    if "axes" not in known:
        known["axes"] = axes_that_work(student, shown["try_a_shape"])
    return InShape(student, known["axes"]) if any(known["axes"]) else student


def axes_that_work(student, want):
    """How many axes must stand in front of the (L, D) of both inputs."""
    tokens = torch.tensor([[1.0, 4.0], [2.0, -1.0], [0.5, 3.0]])
    positions = torch.tensor([[0.25, 2.0], [-3.0, 1.0], [5.0, -0.5]])
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


@pytest.mark.criterion("values")
def test_the_example_of_the_handout(student, shown):
    tokens = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    positions = torch.tensor([[0.0, 0.5], [0.25, -1.0], [1.0, 0.0]])
    assert_close(student.add_position_vectors(tokens, positions), shown["example"], atol=ATOL)


@pytest.mark.criterion("values")
def test_the_same_tokens_with_other_positions(student, shown):
    tokens = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    positions = torch.tensor([[-1.0, 0.25], [2.0, 0.5], [0.75, -3.0]])
    assert_close(student.add_position_vectors(tokens, positions), shown["others"], atol=ATOL)


@pytest.mark.criterion("values")
def test_a_longer_sentence_with_a_token_of_zeros(student, shown):
    tokens = torch.tensor([[2.0, -1.0], [0.0, 0.0], [0.5, 3.0], [-2.0, 1.5], [4.0, 0.25]])
    positions = torch.arange(10.0).reshape(5, 2) / 4
    assert_close(student.add_position_vectors(tokens, positions), shown["zeros"], atol=ATOL)


@pytest.mark.criterion("values")
def test_as_many_tokens_as_numbers_in_a_vector(student, shown):
    tokens = torch.arange(1.0, 10.0).reshape(3, 3)
    positions = torch.tensor([[0.5, -2.0, 1.0], [3.0, 0.25, -1.0], [-4.0, 2.0, 0.75]])
    assert_close(student.add_position_vectors(tokens, positions), shown["square"], atol=ATOL)


@pytest.mark.criterion("values")
def test_large_numbers(student, shown):
    tokens = torch.tensor([[16384.0, -4096.0], [1.0, 8192.0], [-16384.0, 0.5]])
    positions = torch.tensor([[2048.0, 12288.0], [-1.0, -16384.0], [-4096.0, 0.25]])
    assert_close(student.add_position_vectors(tokens, positions), shown["large"], atol=ATOL)


# Every token and its position vector make up 16. The rows repeat after 1001 places only.
@pytest.mark.criterion("values")
def test_a_thousand_tokens(student):
    tokens = torch.arange(1000.0).reshape(1000, 1) % torch.tensor([7.0, 11.0, 13.0])
    total = torch.full((1000, 3), 16.0)
    assert_close(student.add_position_vectors(tokens, 16 - tokens), total, atol=ATOL)


@pytest.mark.criterion("values")
def test_a_thousand_numbers_for_each_token(student):
    tokens = torch.arange(1000.0) % torch.tensor([[7.0], [11.0], [13.0]])
    total = torch.full((3, 1000), 16.0)
    assert_close(student.add_position_vectors(tokens, 16 - tokens), total, atol=ATOL)


@pytest.mark.criterion("batches")
def test_a_single_sentence_without_a_batch(student, shown):
    tokens = torch.arange(12.0).reshape(4, 3) - 5
    positions = torch.arange(12.0).reshape(4, 3) / 4
    assert_close(student.add_position_vectors(tokens, positions), shown["alone"], atol=ATOL)


@pytest.mark.criterion("batches")
def test_a_thousand_sentences(student):
    tokens = torch.zeros(1000, 2, 3)
    positions = torch.arange(1.0, 7.0).reshape(2, 3)
    every_time = positions.expand(1000, 2, 3)
    assert_close(student.add_position_vectors(tokens, positions), every_time, atol=ATOL)


@pytest.mark.criterion("batches")
def test_a_batch_with_positions_of_shape_l_d(student, shown):
    tokens = torch.arange(24.0).reshape(2, 3, 4) - 7
    positions = torch.arange(12.0).reshape(3, 4) / 4
    assert_close(student.add_position_vectors(tokens, positions), shown["batch"], atol=ATOL)


@pytest.mark.criterion("batches")
def test_a_batch_with_positions_of_shape_1_l_d(student, shown):
    tokens = torch.arange(30.0).reshape(3, 5, 2) / 2
    positions = 4 - torch.arange(10.0).reshape(1, 5, 2)
    assert_close(student.add_position_vectors(tokens, positions), shown["batch_1ld"], atol=ATOL)


@pytest.mark.criterion("batches")
def test_a_batch_of_one_sentence(student, shown):
    tokens = torch.tensor([[[3.0, -1.0], [0.5, 2.0], [1.0, 1.0]]])
    positions = torch.tensor([[[1.0, 0.25], [-2.0, 0.5], [4.0, -1.0]]])
    assert_close(student.add_position_vectors(tokens, positions), shown["batch_of_one"], atol=ATOL)


@pytest.mark.criterion("batches")
def test_as_many_sentences_as_tokens_as_numbers(student, shown):
    tokens = 9 - torch.arange(27.0).reshape(3, 3, 3)
    positions = torch.tensor([[0.5, -2.0, 1.0], [3.0, 0.25, -1.0], [-4.0, 2.0, 0.75]])
    assert_close(student.add_position_vectors(tokens, positions), shown["cube"], atol=ATOL)


# The two tests below read an input back after a call: adding zeros returns what it holds now.
@pytest.mark.criterion("manners")
def test_the_token_vectors_are_left_unchanged(student, shown):
    tokens = torch.arange(1.0, 9.0).reshape(4, 2)
    same_tokens = student.keep(tokens)
    positions = torch.arange(5.0, 13.0).reshape(4, 2)
    student.add_position_vectors(same_tokens, positions)
    assert_close(
        student.add_position_vectors(same_tokens, torch.zeros(4, 2)),
        shown["tokens_before"],
        atol=ATOL,
    )


@pytest.mark.criterion("manners")
def test_the_position_vectors_are_left_unchanged(student, shown):
    tokens = torch.arange(1.0, 9.0).reshape(4, 2)
    positions = torch.arange(5.0, 13.0).reshape(4, 2)
    same_positions = student.keep(positions)
    student.add_position_vectors(tokens, same_positions)
    assert_close(
        student.add_position_vectors(torch.zeros(4, 2), same_positions),
        shown["positions_before"],
        atol=ATOL,
    )


@pytest.mark.criterion("manners")
def test_the_sum_has_float32_precision(student, shown):
    tokens = torch.arange(1.0, 13.0).reshape(4, 3) / 7
    positions = torch.arange(12.0).reshape(4, 3) / 3
    assert_close(student.add_position_vectors(tokens, positions), shown["fractions"], atol=ATOL)


@pytest.mark.criterion("values")
def test_the_example_once_more_gives_the_same_answer(student, shown):
    tokens = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    positions = torch.tensor([[0.0, 0.5], [0.25, -1.0], [1.0, 0.0]])
    assert_close(student.add_position_vectors(tokens, positions), shown["example"], atol=ATOL)


@pytest.mark.criterion("batches")
def test_the_first_batch_once_more_gives_the_same_answer(student, shown):
    tokens = torch.arange(24.0).reshape(2, 3, 4) - 7
    positions = torch.arange(12.0).reshape(3, 4) / 4
    assert_close(student.add_position_vectors(tokens, positions), shown["batch"], atol=ATOL)
