"""Fresh inputs: the same for everybody with one seed, and exact in every dtype they are made in."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.suite.rng import Rng

relaxed = settings(deadline=None, derandomize=True, max_examples=40)
seeds = st.integers(0, 2**63)


def an_rng(seed: int = 0, *, test: str = "test_values", parameter: str = "") -> Rng:
    return Rng(seed, "hw1", test, parameter)


@relaxed
@given(seeds)
def test_one_seed_gives_one_sequence(seed: int) -> None:
    first, second = an_rng(seed), an_rng(seed)

    assert torch.equal(first.tensor(2, 3), second.tensor(2, 3))
    assert first.permutation(7) == second.permutation(7)


def test_the_sequence_of_seed_0_is_the_same_on_every_machine() -> None:
    rng = an_rng(0)
    drawn = [rng.integer(0, 999) for _ in range(4)]

    assert drawn == [213, 815, 133, 98]


@pytest.mark.parametrize(
    "other",
    [
        Rng(1, "hw1", "test_values"),
        Rng(0, "hw2", "test_values"),
        Rng(0, "hw1", "test_others"),
        Rng(0, "hw1", "test_values", "2"),
        Rng(0, "hw1test_values", ""),
    ],
    ids=["seed", "assignment", "test", "parameter", "boundaries"],
)
def test_every_part_of_the_key_gives_another_sequence(other: Rng) -> None:
    assert not torch.equal(an_rng(0).tensor(8), other.tensor(8))


@relaxed
@given(seeds, st.sampled_from([torch.float32, torch.float64]))
def test_numbers_are_dyadic_within_bounds_and_never_zero(seed: int, dtype: torch.dtype) -> None:
    drawn = an_rng(seed).tensor(50, low=-2.0, high=2.0, dtype=dtype)

    scaled = drawn.double() * 1024
    assert drawn.dtype == dtype
    assert torch.equal(scaled, scaled.round())
    assert bool((drawn.abs() <= 2).all())
    assert bool((drawn != 0).all())


@relaxed
@given(seeds, st.integers(-5, 5), st.integers(0, 9))
def test_integers_stay_within_both_bounds(seed: int, low: int, width: int) -> None:
    drawn = an_rng(seed).integers(40, low=low, high=low + width)

    assert drawn.dtype == torch.int64
    assert low <= int(drawn.min())
    assert int(drawn.max()) <= low + width


@relaxed
@given(seeds, st.integers(0, 12))
def test_a_permutation_holds_every_number_once(seed: int, count: int) -> None:
    assert sorted(an_rng(seed).permutation(count)) == list(range(count))


def test_both_ends_of_a_range_are_drawn() -> None:
    assert set(an_rng().integers(200, low=0, high=3).tolist()) == {0, 1, 2, 3}


def test_a_choice_is_one_of_the_options() -> None:
    rng = an_rng()

    assert {rng.choice("abc") for _ in range(60)} == set("abc")


def test_torchs_own_generator_is_left_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    an_rng().tensor(10)

    assert torch.equal(torch.get_rng_state(), before)
