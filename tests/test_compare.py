"""Comparison by value: what agrees, what never does, and what a student is told of the rest."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.suite.compare import Mismatch, assert_close, assert_dtype, assert_equal, close, fail

relaxed = settings(deadline=None, derandomize=True, max_examples=60)
numbers = st.floats(-1e6, 1e6, width=32)


def told(seen: Any, want: Any, *, atol: float = 0.0) -> tuple[str, dict[str, Any]]:
    """The code and the arguments of the sentence about a difference."""
    with pytest.raises(Mismatch) as caught:
        assert_close(seen, want, atol=atol)
    return caught.value.code, caught.value.told


@relaxed
@given(st.lists(numbers, max_size=6))
def test_every_tensor_agrees_with_itself_in_any_width(values: list[float]) -> None:
    tensor = torch.tensor(values, dtype=torch.float32)

    assert_close(tensor, tensor.double(), atol=0.0)
    assert_equal(tensor.double(), tensor)


@relaxed
@given(st.lists(numbers, min_size=1, max_size=6), st.floats(0.01, 1.0), st.data())
def test_one_value_beyond_the_bound_never_agrees(
    values: list[float], atol: float, data: st.DataObject
) -> None:
    want = torch.tensor(values, dtype=torch.float64)
    place = data.draw(st.integers(0, len(values) - 1))
    seen = want.clone()
    seen[place] += 3 * atol

    code, args = told(seen, want, atol=atol)

    assert code == "mismatch.values"
    assert (args["index"], args["wrong"], args["total"]) == (f"[{place}]", 1, len(values))


@pytest.mark.parametrize("want", [1.0, math.nan, math.inf])
def test_nan_never_agrees(want: float) -> None:
    assert not close(torch.tensor([math.nan]), torch.tensor([want]), atol=math.inf)
    assert not close(torch.tensor([1.0]), torch.tensor([math.nan]), atol=1e9)


@pytest.mark.parametrize(
    ("seen", "agrees"), [(math.inf, True), (-math.inf, False), (1e308, False), (0.0, False)]
)
def test_infinity_agrees_with_itself_alone(seen: float, agrees: bool) -> None:
    infinite = torch.tensor(math.inf, dtype=torch.float64)

    assert close(torch.tensor(seen, dtype=torch.float64), infinite, atol=1.0, rtol=0.1) is agrees


def test_minus_zero_equals_zero() -> None:
    assert_equal(torch.tensor([-0.0]), torch.tensor([0.0]))


def test_the_relative_bound_is_added_to_the_absolute_one() -> None:
    want = torch.tensor([100.0], dtype=torch.float64)

    assert close(want + 1.5, want, atol=0.5, rtol=0.01)
    assert not close(want + 1.6, want, atol=0.5, rtol=0.01)


def test_shapes_that_would_broadcast_do_not_agree() -> None:
    assert told(torch.ones(1, 3), torch.ones(3)) == (
        "mismatch.shape",
        {"expected": "(3,)", "got": "(1, 3)"},
    )


def test_empty_tensors_of_one_shape_agree() -> None:
    assert_close(torch.empty(0, 3), torch.empty(0, 3), atol=0.0)


def test_the_first_difference_in_row_order_is_told_with_its_row() -> None:
    want = torch.arange(24.0).reshape(2, 3, 4)
    seen = want.clone()
    seen[0, 2, 1] = seen[1, 0, 0] = -1

    assert told(seen, want) == (
        "mismatch.values",
        {
            "index": "[0, 2, 1]",
            "expected_there": "9.0",
            "got_there": "-1.0",
            "expected": "[0, 2, :] = [8.0, 9.0, 10.0, 11.0]",
            "got": "[0, 2, :] = [8.0, -1.0, 10.0, 11.0]",
            "wrong": 2,
            "total": 24,
        },
    )


def test_a_long_row_is_cut_around_the_difference() -> None:
    want = torch.zeros(100)
    seen = want.clone()
    seen[50] = 1

    _, args = told(seen, want)

    assert args["got"] == "[..., 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, ...]"


def test_close_numbers_are_told_with_as_many_digits_as_show_the_difference() -> None:
    code, args = told(1.00001, 1.0)

    assert code == "mismatch.number"
    assert (args["expected"], args["got"]) == ("1.0", "1.00001")


def test_a_complex_result_is_compared_with_its_imaginary_part() -> None:
    assert not close(torch.tensor([1 + 1j]), torch.tensor([1.0]), atol=0.5)
    assert close(torch.tensor([1 + 0j]), torch.tensor([1.0]), atol=0.0)


def test_a_gradient_on_the_result_changes_nothing() -> None:
    assert_close(torch.ones(2, requires_grad=True), torch.ones(2), atol=0.0)


def test_what_student_code_does_to_torch_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "allclose", lambda *args, **kwargs: True)
    monkeypatch.setattr(torch.testing, "assert_close", lambda *args, **kwargs: None)

    assert not close(torch.zeros(2), torch.ones(2), atol=0.5)


def test_a_dtype_is_named_as_torch_names_it() -> None:
    with pytest.raises(Mismatch) as caught:
        assert_dtype(torch.ones(1), torch.bfloat16)

    assert caught.value.told == {"expected": "bfloat16", "got": "float32"}


def test_an_assignments_own_sentence_is_marked_as_such() -> None:
    with pytest.raises(Mismatch) as caught:
        fail("turned_wrongly", pair=3)

    assert (caught.value.code, caught.value.own, caught.value.told) == (
        "turned_wrongly",
        True,
        {"pair": 3},
    )


def test_a_float_keeps_all_its_digits() -> None:
    with pytest.raises(Mismatch):
        assert_close(1e-9, 0.0, atol=0.0)
    with pytest.raises(Mismatch):
        assert_close(1.0 + 1e-12, 1.0, atol=0.0)
