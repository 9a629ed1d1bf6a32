"""The shown tests of hw2: inputs that can be pasted, and stored results.

Results are compared exactly: a row is either copied or zero, nothing is computed.
"""

import pytest
import torch

from grader.model import Died, Returned
from grader.suite.compare import assert_equal, close

MASK_TYPES = (torch.int64, torch.bool, torch.float32)


class OneMaskType:
    """The submission, called with every int64 mask turned into another type."""

    def __init__(self, student, mask_type):
        self.student = student
        self.mask_type = mask_type

    def mask_padding(self, embeddings, attention_mask):
        return self.student.mask_padding(embeddings, self.turned(attention_mask))

    def keep(self, tensor):
        return self.student.keep(self.turned(tensor))

    def turned(self, value):
        is_mask = isinstance(value, torch.Tensor) and value.dtype == torch.int64
        return value.to(self.mask_type) if is_mask else value


def is_right(value, want):
    return isinstance(value, torch.Tensor) and close(value, want, atol=0.0)


@pytest.fixture(scope="module")
def known():
    """What these tests found out about the submission; it lives as long as they do."""
    return {}


@pytest.fixture
def student(student, shown, request, known):
    """The submission; one that works with a single type of mask pays for that under `types`.

    Everywhere else it gets its masks in the type that it can handle.
    """
    if request.node.get_closest_marker("criterion").args[0] == "types":
        return student
    if "mask_type" not in known:
        known["mask_type"] = working_type(student, shown["try_a_type"])
    mask_type = known["mask_type"]
    return student if mask_type is None else OneMaskType(student, mask_type)


def working_type(student, want):
    """The first type of mask that the submission handles, or None."""
    embeddings = torch.arange(1.0, 13.0).reshape(2, 3, 2) / 2
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    for mask_type in MASK_TYPES:
        seen = student.observe("mask_padding", embeddings, mask.to(mask_type))
        if isinstance(seen, Died):
            return None  # asking again would only spend the submission's time
        if isinstance(seen, Returned) and is_right(seen.value, want):
            return mask_type
    return None


@pytest.mark.criterion("padding")
def test_the_example_of_the_handout(student, shown):
    first = [[1.0, 2.0], [3.0, 4.0], [7.0, 7.0]]
    second = [[5.0, 0.0], [7.0, 7.0], [7.0, 7.0]]
    embeddings = torch.tensor([first, second])
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["example"])


@pytest.mark.criterion("padding")
def test_the_same_numbers_under_another_mask(student, shown):
    first = [[1.0, 2.0], [3.0, 4.0], [7.0, 7.0]]
    second = [[5.0, 0.0], [7.0, 7.0], [7.0, 7.0]]
    embeddings = torch.tensor([first, second])
    mask = torch.tensor([[0, 1, 1], [1, 1, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["another_mask"])


@pytest.mark.criterion("padding")
def test_padding_at_the_start_and_in_between(student, shown):
    embeddings = torch.arange(30.0).reshape(3, 5, 2) - 9
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 0, 1, 0, 1], [0, 1, 1, 1, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["gaps"])


@pytest.mark.criterion("padding")
def test_a_full_and_an_empty_sentence(student, shown):
    embeddings = torch.arange(1.0, 25.0).reshape(2, 4, 3) / 4
    mask = torch.tensor([[1, 1, 1, 1], [0, 0, 0, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["full_and_empty"])


@pytest.mark.criterion("padding")
def test_the_mask_decides_and_not_the_numbers(student, shown):
    embeddings = torch.tensor([[[9.0, 9.0], [0.0, 0.0], [9.0, 0.0], [9.0, 9.0]]])
    mask = torch.tensor([[1, 1, 1, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["zeros_and_nines"])


@pytest.mark.criterion("padding")
def test_as_many_sentences_as_positions_as_numbers(student, shown):
    embeddings = torch.arange(1.0, 28.0).reshape(3, 3, 3)
    mask = torch.tensor([[1, 1, 0], [1, 0, 0], [1, 0, 1]])
    assert_equal(student.mask_padding(embeddings, mask), shown["cube"])


# Embeddings of ones come back as the mask.
@pytest.mark.criterion("padding")
def test_a_thousand_positions(student):
    mask = (torch.arange(2000).reshape(2, 1000) % 3 > 0).to(torch.int64)
    assert_equal(student.mask_padding(torch.ones(2, 1000, 1), mask), mask.unsqueeze(-1))


@pytest.mark.criterion("padding")
def test_a_thousand_sentences(student):
    mask = (torch.arange(2000).reshape(1000, 2) % 3 > 0).to(torch.int64)
    assert_equal(student.mask_padding(torch.ones(1000, 2, 1), mask), mask.unsqueeze(-1))


@pytest.mark.criterion("padding")
def test_a_thousand_numbers_for_each_token(student):
    mask = torch.tensor([[1, 0, 1]])
    rows = torch.ones(1, 3, 1000)
    kept = mask.unsqueeze(-1).expand(1, 3, 1000)
    assert_equal(student.mask_padding(rows, mask), kept)


@pytest.mark.criterion("types")
def test_a_bool_mask(student, shown):
    embeddings = torch.arange(1.0, 13.0).reshape(2, 3, 2)
    mask = torch.tensor([[True, True, False], [True, False, False]])
    assert_equal(student.mask_padding(embeddings, mask), shown["types"])


@pytest.mark.criterion("types")
def test_an_int64_mask(student, shown):
    embeddings = 6 - torch.arange(1.0, 13.0).reshape(2, 3, 2)
    mask = torch.tensor([[1, 0, 0], [1, 1, 0]], dtype=torch.int64)
    assert_equal(student.mask_padding(embeddings, mask), shown["types_too"])


@pytest.mark.criterion("types")
def test_an_int32_mask(student, shown):
    embeddings = torch.arange(1.0, 13.0).reshape(2, 3, 2)
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]], dtype=torch.int32)
    assert_equal(student.mask_padding(embeddings, mask), shown["types"])


@pytest.mark.criterion("types")
def test_a_float32_mask(student, shown):
    embeddings = 6 - torch.arange(1.0, 13.0).reshape(2, 3, 2)
    mask = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["types_too"])


@pytest.mark.criterion("types")
def test_a_float64_mask(student, shown):
    embeddings = torch.arange(1.0, 13.0).reshape(2, 3, 2)
    mask = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]], dtype=torch.float64)
    assert_equal(student.mask_padding(embeddings, mask), shown["types"])


@pytest.mark.criterion("types")
def test_float64_embeddings_keep_all_their_digits(student, shown):
    embeddings = torch.arange(1.0, 13.0, dtype=torch.float64).reshape(2, 2, 3) / 7
    mask = torch.tensor([[1, 1], [1, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["sevenths"])


@pytest.mark.criterion("not_finite")
def test_nan_in_the_padding_becomes_zero(student, shown):
    embeddings = torch.arange(1.0, 13.0).reshape(2, 3, 2)
    embeddings[0, 2] = float("nan")
    embeddings[1, 1, 0] = float("nan")
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["nan"])


@pytest.mark.criterion("not_finite")
def test_inf_in_the_padding_becomes_zero(student, shown):
    embeddings = torch.arange(24.0).reshape(2, 4, 3) - 5
    embeddings[0, 3] = float("inf")
    embeddings[1, 2, 1] = float("-inf")
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["inf"])


# The two tests below look at an input again after a call: a mask of ones shows the embeddings,
# embeddings of ones show the mask.
@pytest.mark.criterion("untouched")
def test_the_embeddings_are_left_unchanged(student, shown):
    embeddings = torch.arange(1.0, 13.0).reshape(2, 3, 2)
    same_embeddings = student.keep(embeddings)
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    first = student.mask_padding(same_embeddings, mask)
    assert_equal(first, shown["types"])
    keep_all = torch.tensor([[1, 1, 1], [1, 1, 1]])
    assert_equal(student.mask_padding(same_embeddings, keep_all), shown["embeddings_before"])


@pytest.mark.criterion("untouched")
def test_the_mask_is_left_unchanged(student, shown):
    embeddings = torch.arange(1.0, 13.0).reshape(2, 3, 2)
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    same_mask = student.keep(mask)
    first = student.mask_padding(embeddings, same_mask)
    assert_equal(first, shown["types"])
    assert_equal(student.mask_padding(torch.ones(2, 3, 2), same_mask), shown["mask_before"])


@pytest.mark.criterion("padding")
def test_the_example_once_more_gives_the_same_answer(student, shown):
    first = [[1.0, 2.0], [3.0, 4.0], [7.0, 7.0]]
    second = [[5.0, 0.0], [7.0, 7.0], [7.0, 7.0]]
    embeddings = torch.tensor([first, second])
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    assert_equal(student.mask_padding(embeddings, mask), shown["example"])
