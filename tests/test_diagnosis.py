"""A diagnosis is exact or it is not made."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader import diagnosis
from grader.diagnosis import Knowledge, Known, Numbers, diagnose
from grader.errors import AssignmentError
from grader.model import Text

RIGHT = torch.tensor([[1.0, 2.0, 3.5], [4.0, -5.0, 6.0], [7.5, 8.0, 9.0], [0.5, 0.25, -1.0]])
OTHER = torch.tensor([[3.0, -1.0, 0.5], [1.0, 2.5, 4.0], [6.0, 5.0, -2.0], [8.0, 0.75, 1.5]])


def numbers(tensor: torch.Tensor, dtype: str = "float32", *, exact: bool = False) -> Numbers:
    return Numbers(tensor=tensor.to(torch.float64), dtype=dtype, exact=exact)


def known(id: str, first: Numbers, second: Numbers) -> Known:
    title, hint = (
        Text(code="t", en=f"{id} title", zh="题"),
        Text(code="h", en=f"{id} hint", zh="示"),
    )
    return Known(id=id, title=title, hint=hint, numbers={"p": first, "q": second})


def knowledge(*misconceptions: Known, exact: bool = False) -> Knowledge:
    return Knowledge(
        probes={"f": ("p", "q")},
        right={"p": numbers(RIGHT, exact=exact), "q": numbers(OTHER, exact=exact)},
        known=misconceptions,
    )


def ids(seen: dict[str, Numbers], what: Knowledge) -> list[str]:
    return [each.id for each in diagnose(seen, what)]


def near(change: object) -> list[str]:
    assert callable(change)
    seen = {"p": numbers(change(RIGHT)), "q": numbers(change(OTHER))}
    return ids(seen, knowledge())


def test_the_misconception_with_the_same_numbers_on_every_probe_is_named() -> None:
    squared = known("squared", numbers(RIGHT**2), numbers(OTHER**2))
    cubed = known("cubed", numbers(RIGHT**3), numbers(OTHER**3))

    found = ids({"p": numbers(RIGHT**3), "q": numbers(OTHER**3)}, knowledge(squared, cubed))

    assert found == ["cubed"]


def test_one_probe_that_differs_is_enough_to_say_nothing() -> None:
    squared = known("squared", numbers(RIGHT**2), numbers(OTHER**2))

    assert ids({"p": numbers(RIGHT**2), "q": numbers(OTHER.abs() + 7)}, knowledge(squared)) == []


def test_right_numbers_are_never_diagnosed() -> None:
    same = known("same", numbers(RIGHT), numbers(OTHER))

    assert ids({"p": numbers(RIGHT), "q": numbers(OTHER)}, knowledge(same)) == []


def test_rounding_in_float32_does_not_hide_a_misconception() -> None:
    squared = known("squared", numbers(RIGHT**2), numbers(OTHER**2))
    seen = {"p": numbers(RIGHT**2 * (1 + 1e-5)), "q": numbers(OTHER**2 - 1e-5)}

    assert ids(seen, knowledge(squared)) == ["squared"]


def test_a_misconception_is_recognised_in_another_dtype() -> None:
    squared = known("squared", numbers(RIGHT**2), numbers(OTHER**2))
    seen = {"p": numbers(RIGHT**2, "float64"), "q": numbers(OTHER**2, "float64")}

    assert ids(seen, knowledge(squared)) == ["squared"]


def test_where_only_the_dtype_is_wrong_the_dtype_decides() -> None:
    widened = known("widened", numbers(RIGHT, "float64"), numbers(OTHER, "float64"))

    assert ids(
        {"p": numbers(RIGHT, "float64"), "q": numbers(OTHER, "float64")}, knowledge(widened)
    ) == ["widened"]
    assert (
        ids({"p": numbers(RIGHT, "float16"), "q": numbers(OTHER, "float16")}, knowledge(widened))
        == []
    )


def test_exact_probes_tell_a_tiny_number_from_zero() -> None:
    seen = {
        "p": numbers(RIGHT.double() + 1e-9, exact=True),
        "q": numbers(OTHER.double() + 1e-9, exact=True),
    }
    tiny = known("tiny", seen["p"], seen["q"])

    assert ids(seen, knowledge(tiny, exact=True)) == ["tiny"]


def test_an_exception_is_part_of_the_signature() -> None:
    message = "RuntimeError: expects boolean mask"
    raising = known("raising", numbers(RIGHT), Numbers(raised=message))

    assert ids({"p": numbers(RIGHT), "q": Numbers(raised=message)}, knowledge(raising)) == [
        "raising"
    ]
    assert (
        ids({"p": numbers(RIGHT), "q": Numbers(raised="RuntimeError: other")}, knowledge(raising))
        == []
    )


def test_no_answer_matches_nothing() -> None:
    silent = known("silent", Numbers(), Numbers())

    assert ids({"p": Numbers(), "q": Numbers()}, knowledge(silent)) == []
    assert ids({}, knowledge(silent)) == []


@pytest.mark.parametrize(
    ("expected", "change"),
    [
        ("near.negated", lambda right: -right),
        ("near.scaled", lambda right: right * 1.5),
        ("near.offset", lambda right: right + 0.25),
        ("near.transposed", lambda right: right.mT),
        ("near.row_late", lambda right: torch.cat((right[:1] * 3, right[:-1]))),
        ("near.row_early", lambda right: torch.cat((right[1:], right[-1:] * 3))),
        ("near.first_row", lambda right: torch.cat((right[:1] * 3, right[1:]))),
        ("near.last_row", lambda right: torch.cat((right[:-1], right[-1:] * 3))),
        ("near.columns", lambda right: right.flip(-1)),
        ("near.coarse", lambda right: right + torch.tensor([0.004, -0.003, 0.001])),
    ],
)
def test_a_near_miss_is_told_from_the_others(expected: str, change: object) -> None:
    assert near(change) == [expected]


def test_a_known_misconception_comes_before_a_near_miss() -> None:
    doubled = known("doubled", numbers(RIGHT * 2), numbers(OTHER * 2))

    assert ids({"p": numbers(RIGHT * 2), "q": numbers(OTHER * 2)}, knowledge(doubled)) == [
        "doubled"
    ]


def test_a_factor_that_differs_between_the_probes_is_no_near_miss() -> None:
    assert ids({"p": numbers(RIGHT * 2), "q": numbers(OTHER * 3)}, knowledge()) == []


def test_each_function_is_looked_at_on_its_own() -> None:
    what = Knowledge(
        probes={"f": ("p",), "g": ("q",)},
        right={"p": numbers(RIGHT), "q": numbers(OTHER)},
        known=(known("g_squared", numbers(RIGHT), numbers(OTHER**2)),),
    )

    assert ids({"p": numbers(RIGHT), "q": numbers(OTHER**2)}, what) == ["g_squared"]
    assert ids({"p": numbers(-RIGHT), "q": numbers(OTHER**2)}, what) == [
        "near.negated",
        "g_squared",
    ]


def test_nan_in_the_result_is_no_near_miss() -> None:
    assert near(lambda right: right * float("nan")) == []


@given(st.lists(st.floats(-100, 100), min_size=12, max_size=12))
def test_what_is_close_to_the_right_answer_everywhere_is_not_diagnosed(noise: list[float]) -> None:
    small = torch.tensor(noise, dtype=torch.float64).reshape(4, 3) * 1e-7

    assert near(lambda right: right.double() + small) == []


def test_numbers_come_back_from_json_as_they_were() -> None:
    tensor = torch.tensor([[1.5, float("nan")], [float("-inf"), 1 / 3]], dtype=torch.float64)

    back = diagnosis.numbers_from(diagnosis.numbers_json(numbers(tensor, exact=True)))

    assert back.tensor is not None
    assert torch.equal(back.tensor.nan_to_num(7.0), tensor.nan_to_num(7.0))
    assert (back.dtype, back.exact, back.raised) == ("float32", True, None)


def test_a_folder_without_the_file_has_no_knowledge(tmp_path: Path) -> None:
    assert diagnosis.load(tmp_path / "diagnosis.json") is None


def test_a_damaged_file_is_the_authors_error(tmp_path: Path) -> None:
    path = tmp_path / "diagnosis.json"
    path.write_text('{"probes": {}}', "utf-8")

    with pytest.raises(AssignmentError, match=r"diagnosis\.json: KeyError"):
        diagnosis.load(path)


@pytest.mark.parametrize("name", ["hw3_sinusoid", "hw4_rope"])
def test_each_hint_on_two_mistakes_says_that_it_is_about_one_of_them(name: str) -> None:
    loaded = diagnosis.load(Path(__file__).parent.parent / "assignments" / name / "diagnosis.json")

    assert loaded is not None
    hints = {each.id: each.hint for each in loaded.known}
    pairs = {id.partition("+")[::2]: hint for id, hint in hints.items() if "+" in id}
    assert pairs
    for (first, second), hint in pairs.items():
        assert hint.en.endswith(f"First: {hints[first].en} Then: {hints[second].en}")
        assert hint.zh.endswith(f"第一处：{hints[first].zh}第二处：{hints[second].zh}")
