"""What a suite tells is finite JSON, whatever a submission returned."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from students import graded, said

from grader.suite.compare import Mismatch, assert_close, assert_like_own, fail
from grader.suite.finite import finite, render

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(anything)
def test_everything_becomes_json_without_infinities(value: object) -> None:
    text = json.dumps(finite(value), allow_nan=False)

    assert json.loads(text) == finite(value)
    text.encode("utf-8")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (10**400, "1.000e+400"),
        (-(2**64), "-1.845e+19"),
        (complex(1, math.inf), "1+infj"),
        (torch.tensor(math.nan), "nan"),
        (torch.tensor([1.0, math.inf]), [1.0, "inf"]),
        (3, 3),
        (0.5, 0.5),
        (True, True),
        (object, "<class 'object'>"),
    ],
)
def test_a_number_that_json_does_not_have_is_told_by_its_name(value: object, told: object) -> None:
    assert finite(value) == told


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 10**400, 2 + 3j])
def test_a_sentence_takes_any_number_where_it_formats_one(value: Any) -> None:
    with pytest.raises(Mismatch) as caught:
        fail("not_a_period", pair=0, seen=value)

    told = caught.value.told
    assert json.dumps(told, allow_nan=False)
    assert str(told["seen"]) in render("It came out as {seen:.4g} for {pair}.", told)


@pytest.mark.parametrize("seen", [math.inf, -math.inf, math.nan])
def test_a_difference_from_something_infinite_is_told(seen: float) -> None:
    for value in (seen, torch.tensor([1.0, seen])):
        with pytest.raises(Mismatch) as caught:
            assert_close(value, torch.ones_like(torch.as_tensor(value)), atol=1.0)
        assert json.dumps(caught.value.told, allow_nan=False)
        with pytest.raises(Mismatch) as caught:
            assert_like_own(value, torch.zeros(()), code="other", atol=1.0)
        assert json.dumps(caught.value.told, allow_nan=False)


def test_own_numbers_are_told_as_the_submissions_own() -> None:
    with pytest.raises(Mismatch) as caught:
        assert_like_own(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 5.0]), code="x", atol=0.1)

    assert caught.value.own
    assert caught.value.told == {"index": "[1]", "seen": "2.0", "own": "5.0"}
    assert_like_own(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]), code="x", atol=0.1)


# 1e308 times ten, and an integer of 400 digits, are infinite by another way.
RESULTS = [
    "float('inf')",
    "float('-inf')",
    "float('nan')",
    "1e308",
    "10 ** 400",
    "-1e308",
    "5e-324",
    "2 + 3j",
    "True",
    "'inf'",
    "np.float32('inf')",
    "np.array([1.0, np.nan, np.inf])",
    "torch.tensor(float('nan'))",
    "torch.full((3,), float('inf'))",
    "torch.tensor(complex('inf'))",
    "[float('nan')]",
    "{'a': float('inf')}",
]
HW3 = """import numpy as np, torch
def sinusoid_value(pos, i, d_model, base=10000.0):
    return {result}
def sinusoid_period(i, d_model, base=10000.0):
    return {result}
"""
# Right first, so that the tests go on to what is compared with it.
HW3_LATER = """import math, numpy as np, torch
def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos) if i == 0 else {result}
def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi if i == 0 else {result}
"""
TENSORS = [
    "x * float('inf')",
    "x * float('nan')",
    "x / 0",
    "x.double() * 1e308 * 10",
    "x * complex('nan')",
    "x.double().clone().fill_(1e308)",
    "torch.where(torch.arange(x.shape[-1]) % 2 == 0, x, -math.inf)",
]
ONE_TENSOR = """import math, torch
def {head}:
    return {result}
"""
HEADS = {
    "hw1": "add_position_vectors(x, p)",
    "hw2": "mask_padding(x, m)",
    "hw4": "apply_rope(x, positions=None, base=10000.0)",
}


@pytest.mark.long
def test_no_result_breaks_the_grading_of_hw3(tmp_path: Path) -> None:
    sources = {
        f"{kind}_{number}": text.format(result=result)
        for kind, text in (("all", HW3), ("later", HW3_LATER))
        for number, result in enumerate(RESULTS)
    }

    reports = graded(tmp_path, sources)

    for name, report in reports.items():
        assert report["status"] == "graded", name
        assert not any(each["verdict"] == "errored" for each in report["tests"]), name
        assert report["score"] <= (0 if name.startswith("all") else 4), name
        json.dumps(report, allow_nan=False)


@pytest.mark.long
@pytest.mark.parametrize("assignment", sorted(HEADS))
def test_no_tensor_breaks_a_grading(assignment: str, tmp_path: Path) -> None:
    sources = {
        f"{number}": ONE_TENSOR.format(head=HEADS[assignment], result=result)
        for number, result in enumerate(TENSORS)
    }

    reports = graded(tmp_path, sources)

    for name, report in reports.items():
        assert (report["status"], report["score"]) == ("graded", 0), name
        assert not any(each["verdict"] == "errored" for each in report["tests"]), name
        json.dumps(report, allow_nan=False)


def test_nan_is_told_as_nan_and_an_array_as_an_array(tmp_path: Path) -> None:
    texts = {
        "nan": "import math\ndef sinusoid_period(i, d_model, base=10000.0):\n    return math.nan\n",
        "inf": "import math\ndef sinusoid_period(i, d_model, base=10000.0):\n    return math.inf\n",
        "array": "import numpy as np\ndef sinusoid_period(i, d_model, base=10000.0):\n"
        "    return np.arange(3.0)\n",
        "tensor": "import torch\ndef sinusoid_period(i, d_model, base=10000.0):\n"
        "    return torch.arange(3.0)\n",
    }

    reports = graded(tmp_path, texts)

    told = {name: said(report) for name, report in reports.items()}
    assert "got nan" in told["nan"] and "inf" not in told["nan"]
    assert "inf" in told["inf"]
    assert "a numpy array of shape (3,)" in told["array"] and "Tensor" not in told["array"]
    assert "a tensor of shape (3,)" in told["tensor"]
    assert "形状为 (3,) 的 numpy 数组" in said(reports["array"], "zh")
