"""The shown tests of hw1: inputs that can be pasted, and stored float64 results."""

import pytest
import torch

from grader.suite.compare import assert_close

# Float32 rounds a sum below 64 by at most 1.9e-6 (half a unit in the last place), and the answer
# may take a detour. The nearest wrong numbers: multiples of 1/4 differ by 1/4, and the sevenths
# and thirds of the precision test are missed by 1e-3 in float16, by 9e-3 in bfloat16.
ATOL = 1e-5


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
