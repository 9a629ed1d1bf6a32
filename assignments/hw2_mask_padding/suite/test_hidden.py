"""The hidden tests of hw2: the shown requirements on other inputs.

The right answer is put together row by row from Python lists, so that nothing here depends on
the broadcasting, filling and dtype rules that the exercise is about. Comparison is exact: a row
is either copied or zero. The tolerance is 0 because no right answer computes anything that rounds:
copying, filling, and multiplying by 1 or 0 are exact in every float type.
"""

import pytest
import torch

from grader.model import Died, Returned
from grader.suite.compare import assert_equal, close

MASK_TYPES = (torch.int64, torch.bool, torch.float32)


def masked(embeddings: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The right answer in float64, row by row."""
    kept = mask.to(torch.int64).tolist()
    rows = [
        [row if kept[b][place] == 1 else [0.0] * len(row) for place, row in enumerate(sentence)]
        for b, sentence in enumerate(embeddings.tolist())
    ]
    return torch.tensor(rows, dtype=torch.float64)


def public_values() -> dict[str, torch.Tensor]:
    """What `public_values.json` holds: the answers to the shown tests."""
    twelve = torch.arange(1.0, 13.0).reshape(2, 3, 2)
    short = torch.tensor([[1, 1, 0], [1, 0, 0]])
    with_nan = twelve.clone()
    with_nan[0, 2] = with_nan[1, 1, 0] = float("nan")
    with_inf = torch.arange(24.0).reshape(2, 4, 3) - 5
    with_inf[0, 3], with_inf[1, 2, 1] = float("inf"), float("-inf")
    return {
        "try_a_type": masked(twelve / 2, short),
        "example": masked(*example()),
        "another_mask": masked(example()[0], torch.tensor([[0, 1, 1], [1, 1, 0]])),
        "gaps": masked(
            torch.arange(30.0).reshape(3, 5, 2) - 9,
            torch.tensor([[0, 0, 1, 1, 1], [1, 0, 1, 0, 1], [0, 1, 1, 1, 0]]),
        ),
        "full_and_empty": masked(
            torch.arange(1.0, 25.0).reshape(2, 4, 3) / 4,
            torch.tensor([[1, 1, 1, 1], [0, 0, 0, 0]]),
        ),
        "zeros_and_nines": masked(
            torch.tensor([[[9.0, 9.0], [0.0, 0.0], [9.0, 0.0], [9.0, 9.0]]]),
            torch.tensor([[1, 1, 1, 0]]),
        ),
        "cube": masked(
            torch.arange(1.0, 28.0).reshape(3, 3, 3),
            torch.tensor([[1, 1, 0], [1, 0, 0], [1, 0, 1]]),
        ),
        "types": masked(twelve, short),
        "types_too": masked(6 - twelve, torch.tensor([[1, 0, 0], [1, 1, 0]])),
        "sevenths": masked(
            torch.arange(1.0, 13.0, dtype=torch.float64).reshape(2, 2, 3) / 7,
            torch.tensor([[1, 1], [1, 0]]),
        ),
        "nan": masked(with_nan, short),
        "inf": masked(with_inf, torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])),
        "embeddings_before": twelve.double(),
        "mask_before": masked(torch.ones(2, 3, 2), short),
    }


def example() -> tuple[torch.Tensor, torch.Tensor]:
    """The worked example of the handout, which is also the first shown test."""
    embeddings = torch.tensor(
        [[[1.0, 2.0], [3.0, 4.0], [7.0, 7.0]], [[5.0, 0.0], [7.0, 7.0], [7.0, 7.0]]]
    )
    return embeddings, torch.tensor([[1, 1, 0], [1, 0, 0]])


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
def student(student, request, known):
    """As in the shown tests: only `types` charges for a function that takes one type of mask."""
    if request.node.get_closest_marker("criterion").args[0] == "types":
        return student
    if "mask_type" not in known:
        known["mask_type"] = working_type(student)
    mask_type = known["mask_type"]
    return student if mask_type is None else OneMaskType(student, mask_type)


def working_type(student):
    """The first type of mask that the submission handles, or None."""
    embeddings = torch.arange(1.0, 13.0).reshape(2, 3, 2) / 2
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    for mask_type in MASK_TYPES:
        seen = student.observe("mask_padding", embeddings, mask.to(mask_type))
        if isinstance(seen, Died):
            return None  # asking again would only spend the submission's time
        if isinstance(seen, Returned) and is_right(seen.value, masked(embeddings, mask)):
            return mask_type
    return None


def padded_at_the_end(rng, batch: int, length: int) -> torch.Tensor:
    """An int64 mask as tokenizers make it: real tokens first, lengths 1 to L - 1, not all equal.

    The criteria that are not about the place of the padding use it, so that a wrong idea of
    that place is paid for once.
    """
    lengths = [
        1 + (rng.integer(0, length - 2) + sentence) % (length - 1) for sentence in range(batch)
    ]
    return torch.tensor([[int(place < end) for place in range(length)] for end in lengths])


def padded_anywhere(rng, batch: int, length: int) -> torch.Tensor:
    """An int64 mask with real tokens and padding in any order."""
    return rng.integers(batch, length, low=0, high=1)


# All different; each pair of axes equal; all equal; axes of length 1.
SHAPES = [(3, 5, 2), (4, 4, 3), (2, 6, 6), (5, 3, 5), (4, 4, 4), (1, 5, 3), (4, 1, 3), (3, 4, 1)]
# The handout promises sizes up to 1000: whatever ends or wraps before leaves the last rows wrong.
LARGE = [(2, 1000, 2), (1000, 2, 2), (1, 3, 1000)]


@pytest.mark.criterion("padding")
@pytest.mark.parametrize("batch, length, width", SHAPES + LARGE)
def test_padding_anywhere(student, rng, batch, length, width):
    embeddings = rng.tensor(batch, length, width)
    mask = padded_anywhere(rng, batch, length)
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("padding")
def test_padding_at_the_end(student, rng):
    embeddings = rng.tensor(4, 7, 3)
    mask = padded_at_the_end(rng, 4, 7)
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("padding")
def test_padding_at_the_start(student, rng):
    embeddings = rng.tensor(4, 6, 3)
    mask = padded_at_the_end(rng, 4, 6).flip(1)
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("padding")
def test_one_gap_in_a_sentence(student, rng):
    embeddings = rng.tensor(3, 6, 4)
    mask = torch.ones(3, 6, dtype=torch.int64)
    mask[rng.integer(0, 2), rng.integer(1, 4)] = 0
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("padding")
def test_full_and_empty_sentences_among_others(student, rng):
    embeddings = rng.tensor(4, 5, 3)
    mask = padded_anywhere(rng, 4, 5)
    full, empty, *_ = rng.permutation(4)
    mask[full], mask[empty] = 1, 0
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("padding")
@pytest.mark.parametrize("every", [0, 1])
def test_a_mask_that_is_the_same_everywhere(student, rng, every):
    embeddings = rng.tensor(2, 4, 3)
    mask = torch.full((2, 4), every)
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("padding")
def test_real_tokens_that_look_like_padding(student, rng):
    embeddings = rng.integers(3, 8, 2, low=0, high=1).float() * rng.choice([1.0, 9.0, -100.0])
    embeddings[:, rng.integer(0, 7)] = 0.0
    mask = padded_anywhere(rng, 3, 8)
    mask[:, 0] = 1
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("padding")
@pytest.mark.parametrize("size", [40, -40])
def test_large_and_small_numbers(student, rng, size):
    embeddings = rng.tensor(3, 4, 5) * 2.0**size
    mask = padded_anywhere(rng, 3, 4)
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("padding")
def test_the_same_embeddings_under_two_masks(student, rng):
    embeddings = rng.tensor(3, 5, 2)
    for mask in (padded_anywhere(rng, 3, 5), padded_anywhere(rng, 3, 5)):
        assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("types")
@pytest.mark.parametrize("name", ["bool", "int32", "int64", "float32", "float64"])
def test_a_mask_of_another_type(student, rng, name):
    embeddings = rng.tensor(3, 6, 4)
    mask = padded_at_the_end(rng, 3, 6).to(getattr(torch, name))
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("types")
@pytest.mark.parametrize("name", ["bool", "int64", "float32", "float64"])
def test_float64_embeddings(student, rng, name):
    # An odd multiple of 2^-40 beside k/1024 does not fit into float32.
    embeddings = rng.tensor(2, 5, 3, dtype=torch.float64) + 2.0**-40
    mask = padded_at_the_end(rng, 2, 5).to(getattr(torch, name))
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("not_finite")
@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_padding_that_is_not_finite(student, rng, text):
    embeddings = rng.tensor(3, 5, 4)
    mask = padded_at_the_end(rng, 3, 5)
    embeddings[mask == 0] = float(text)
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("not_finite")
def test_a_single_number_that_is_not_finite(student, rng):
    embeddings = rng.tensor(2, 6, 3)
    mask = padded_at_the_end(rng, 2, 6)
    text = rng.choice(["nan", "inf", "-inf"])
    embeddings[rng.integer(0, 1), 5, rng.integer(0, 2)] = float(text)
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))


@pytest.mark.criterion("untouched")
def test_the_inputs_stay_as_they_were(student, rng):
    embeddings, mask = rng.tensor(3, 5, 2), padded_at_the_end(rng, 3, 5)
    kept_embeddings, kept_mask = student.keep(embeddings), student.keep(mask)
    right = masked(embeddings, mask)
    assert_equal(student.mask_padding(kept_embeddings, kept_mask), right)
    assert_equal(student.mask_padding(kept_embeddings, kept_mask), right)
    ones = torch.ones(3, 5, dtype=torch.int64)
    assert_equal(student.mask_padding(kept_embeddings, ones), masked(embeddings, ones))
    blank = torch.ones(3, 5, 2)
    assert_equal(student.mask_padding(blank, kept_mask), masked(blank, mask))


@pytest.mark.criterion("padding")
def test_the_first_call_once_more_gives_the_same_answer(student):
    embeddings, mask = example()
    assert_equal(student.mask_padding(embeddings, mask), masked(embeddings, mask))
