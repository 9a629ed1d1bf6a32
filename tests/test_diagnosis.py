"""A diagnosis is exact or it is not made."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader import assignment as assignments
from grader import misconceptions
from grader.diagnosis import Diagnostician, diagnose
from grader.errors import AssignmentError
from grader.explaining import checking, reading
from grader.explaining import knowledge as stored
from grader.explaining.asking import Question
from grader.explaining.knowledge import Knowledge, Known, Numbers
from grader.explaining.rules import Mistake, Rule, Step, pack, unpack
from grader.model import Probe, Raised, Returned, Text
from grader.suite import probes
from grader.verifying import formulas

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
    assert ids(
        {"p": numbers(RIGHT, "float16"), "q": numbers(OTHER, "float16")}, knowledge(widened)
    ) == ["near.dtype"]


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

    back = stored.numbers_from(stored.numbers_json(numbers(tensor, exact=True)))

    assert back.tensor is not None
    assert torch.equal(back.tensor.nan_to_num(7.0), tensor.nan_to_num(7.0))
    assert (back.dtype, back.exact, back.raised) == ("float32", True, None)


def test_a_folder_without_the_file_has_no_knowledge(tmp_path: Path) -> None:
    assert stored.load(tmp_path / "diagnosis.json") is None


def test_a_damaged_file_is_the_authors_error(tmp_path: Path) -> None:
    path = tmp_path / "diagnosis.json"
    path.write_text('{"probes": {}}', "utf-8")

    with pytest.raises(AssignmentError, match=r"diagnosis\.json: KeyError"):
        stored.load(path)


def test_what_is_handed_back_instead_of_numbers_is_told() -> None:
    nothing = {"p": Numbers(kind="none"), "q": Numbers(kind="none")}
    mixed = {"p": Numbers(kind="none"), "q": numbers(OTHER)}

    assert ids(nothing, knowledge()) == ["near.none"]
    assert diagnose(nothing, knowledge())[0].by == "results"
    assert ids(mixed, knowledge()) == []


def test_a_misconception_by_its_exceptions_speaks_of_no_numbers() -> None:
    raising = known("raising", numbers(RIGHT), Numbers(raised="RuntimeError: no"))
    seen = {"p": numbers(RIGHT), "q": Numbers(raised="RuntimeError: no")}

    (found,) = diagnose(seen, knowledge(raising))

    assert (found.id, found.by, found.function) == ("raising", "errors", "f")


def test_a_title_about_two_functions_is_not_told_of_one_that_it_does_not_explain() -> None:
    both = known("both", numbers(RIGHT**2), numbers(OTHER * 5))
    alone = known("alone", numbers(RIGHT), numbers(OTHER * 5))
    what = Knowledge(
        probes={"f": ("p",), "g": ("q",)},
        right={"p": numbers(RIGHT), "q": numbers(OTHER)},
        known=(both, alone),
    )

    assert ids({"p": numbers(RIGHT**3), "q": numbers(OTHER * 5)}, what) == ["alone"]
    assert ids({"p": numbers(RIGHT**2), "q": numbers(OTHER * 5)}, what) == ["both"]


@pytest.mark.parametrize(
    ("expected", "change"),
    [
        ("near.rows", lambda right: right.roll(2, 0)),
        ("near.axis_added", lambda right: right[:, None]),
        ("near.reshaped", lambda right: right.reshape(2, 6)),
        ("near.repeated", lambda right: right.expand(5, 4, 3)),
        ("near.one_row", lambda right: right[-1]),
        ("near.outer", lambda right: right.mT.diag_embed(dim1=0, dim2=1)),
        ("near.summed", lambda right: right.sum(-1)),
        ("near.averaged", lambda right: right.mean(0)),
    ],
)
def test_right_numbers_in_another_form_are_told_with_both_shapes(
    expected: str, change: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    seen = {"p": numbers(change(RIGHT)), "q": numbers(change(OTHER))}

    (found,) = diagnose(seen, knowledge())

    assert (found.id, found.by) == (expected, "numbers" if expected == "near.rows" else "results")
    if found.by == "results":
        shape = tuple(change(RIGHT).shape)
        assert str(shape) in found.title.en
        assert str(shape) in found.title.zh


def batched(change: Callable[[torch.Tensor], torch.Tensor]) -> list[str]:
    right = {
        "p": torch.arange(24.0).reshape(2, 3, 4).sin(),
        "q": torch.arange(60.0).reshape(3, 5, 4).cos(),
    }
    what = Knowledge(
        probes={"f": ("p", "q")},
        right={id: numbers(each) for id, each in right.items()},
        known=(),
    )
    return ids({id: numbers(change(each)) for id, each in right.items()}, what)


@pytest.mark.parametrize(
    ("expected", "change"),
    [
        ("near.axes_swapped", lambda right: right.transpose(0, 1)),
        pytest.param("near.axes_swapped", lambda right: right.permute(2, 0, 1), id="all three"),
        ("near.pairs_apart", lambda right: right.unflatten(-1, (-1, 2))),
        ("near.one_sentence", lambda right: right[:1]),
        pytest.param("near.one_sentence", lambda right: right[-1], id="the last"),
    ],
)
def test_a_batch_in_another_form_is_told(
    expected: str, change: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    assert batched(change) == [expected]


def test_one_number_is_told_from_a_tensor_that_holds_it_and_from_text() -> None:
    right = {"p": torch.tensor(0.5), "q": torch.tensor(-2.0)}
    what = Knowledge(
        probes={"f": ("p", "q")},
        right={id: numbers(each, "float") for id, each in right.items()},
        known=(),
    )

    assert ids({id: numbers(each[None]) for id, each in right.items()}, what) == [
        "near.one_element"
    ]
    assert ids({id: numbers(each.expand(4)) for id, each in right.items()}, what) == ["near.vector"]
    assert ids({id: Numbers(kind="text") for id in right}, what) == ["near.text"]
    assert ids({id: numbers(each, "float64") for id, each in right.items()}, what) == []


# --- cases that work, and others that don't ------------------------------------------------------


def shaped(*sizes: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.arange(1.0, 1 + math.prod(sizes)).reshape(sizes).sin().to(dtype)


ASKED: dict[str, dict[str, object]] = {
    "rows": {"x": shaped(4, 3)},
    "more_rows": {"x": shaped(70, 3)},
    "batch": {"x": shaped(2, 4, 3)},
    "cube": {"x": shaped(3, 3, 3), "rate": 2.0},
    "placed": {"x": shaped(5, 3), "places": torch.tensor([4, 2, 0, 1, 3])},
    "far": {"x": shaped(5, 3), "places": torch.tensor([4, 2, 50, 1, 3])},
    "half": {"x": shaped(4, 3, dtype=torch.bfloat16)},
    "single": {"x": shaped(4, 3, dtype=torch.float32)},
    "rate": {"x": shaped(4, 3), "rate": 3.0},
    "one": {"x": shaped(4, 3), "rate": 1.0},
    "again": {"x": shaped(4, 3)},
    "again_batch": {"x": shaped(2, 4, 3)},
}


def worked(*wrong: str, change: Callable[[torch.Tensor], torch.Tensor] | None = None) -> list[str]:
    """The diagnoses of an answer that raises, or is changed, on these calls."""
    questions = [
        Question(
            probe=Probe(id=id, function="f", arguments={}, twice=id.startswith("again")),
            arguments=call,
            first={},
        )
        for id, call in ASKED.items()
    ]
    right = {id: numbers(call["x"] * 2) for id, call in ASKED.items()}  # type: ignore[operator]
    what = Knowledge(probes={"f": tuple(ASKED)}, right=right, known=())
    seen = dict(right)
    for id in wrong:
        value = right[id].tensor
        assert value is not None
        seen[id] = numbers(change(value)) if change else Numbers(raised="ValueError: no")
    return [each.id for each in Diagnostician(what, questions).diagnose(seen)]


@pytest.mark.parametrize(
    ("expected", "wrong"),
    [
        ("near.axes_only", ("batch", "cube", "again_batch")),
        pytest.param(
            "near.axes_never",
            tuple(set(ASKED) - {"batch", "cube", "again_batch"}),
            id="batches only",
        ),
        ("near.given_never", ("placed", "far")),
        ("near.given_only", tuple(set(ASKED) - {"placed", "far"})),
        ("near.far_never", ("far", "more_rows")),
        ("near.beyond_never", ("far",)),
        ("near.dtype_never", ("half",)),
        ("near.value_never", ("one",)),
        ("near.alike_never", ("cube",)),
        pytest.param("near.far_never", ("more_rows",), id="counted ones"),
        ("near.again_never", ("again", "again_batch")),
        pytest.param("near.again_never", ("again_batch",), id="one of them"),
    ],
)
def test_the_calls_that_work_tell_what_the_others_have_in_common(
    expected: str, wrong: tuple[str, ...]
) -> None:
    assert [each.partition("+")[0] for each in worked(*wrong)] == [expected]


@pytest.mark.parametrize("wrong", [("rows", "half"), ("rate", "batch"), tuple(ASKED)])
def test_calls_that_have_nothing_in_common_are_not_explained(wrong: tuple[str, ...]) -> None:
    assert worked(*wrong) == []


def test_two_cases_are_told_together() -> None:
    wrong = ("batch", "cube", "again_batch", "placed", "far")

    assert worked(*wrong) == ["near.given_never+near.axes_only"]


def test_calls_that_give_wrong_numbers_are_told_like_calls_that_fail() -> None:
    assert worked("batch", "cube", "again_batch", change=lambda right: right**2 + 0.1) == [
        "near.axes_only"
    ]


# --- rules as formulas -----------------------------------------------------------------------


def mistake(id: str, formula: str | None, **more: object) -> Mistake:
    title = Text(code="t", en=f"{id} {{c}}" if "c" in str(formula).split() else id, zh=id)
    return Mistake(id=id, title=title, hint=Text(code="h", en=id, zh=id), formula=formula, **more)  # type: ignore[arg-type]


RULE = Rule(
    function="f",
    steps=(
        Step(
            name="rate",
            right="default(rate, 10)",
            mistakes=(
                mistake("rate_ignored", "10"),
                mistake("rate_fixed", "c", constants=(2.0,), fits=True),
            ),
        ),
        Step(
            name="grown",
            right="x * 2 ** (x / rate)",
            mistakes=(mistake("shrunk", "x * 2 ** -(x / rate)"), mistake("doubled", "2 * x")),
        ),
        Step(
            name="out",
            right="grown",
            mistakes=(
                mistake("negative", "-grown"),
                mistake("shifted", "grown + c", fits=True, weight=2),
            ),
        ),
        Step(name="returned", right="out", mistakes=(mistake("in_place", None, written="x"),)),
    ),
)
CALLS: dict[str, dict[str, object]] = {
    "usual": {"x": RIGHT.double()},
    "other": {"x": OTHER.double(), "rate": 7.0},
    "again": {"x": OTHER.double(), "rate": 3.0},
}


def grow(x: torch.Tensor, rate: float = 10.0, *, sign: float = 1.0) -> torch.Tensor:
    return x * 2 ** (sign * x / rate)


def doctor() -> Diagnostician:
    right = {id: numbers(grow(**call)) for id, call in CALLS.items()}  # type: ignore[arg-type]
    right["again"] = numbers(grow(OTHER.double(), 3.0))
    questions = [
        Question(
            probe=Probe(id=id, function="f", arguments={}, twice=id == "again"),
            arguments=call,
            first={},
        )
        for id, call in CALLS.items()
    ]
    return Diagnostician(
        Knowledge(probes={"f": tuple(CALLS)}, right=right, known=(), rules=(RULE,)), questions
    )


def explained(function: Callable[..., torch.Tensor], *, in_place: bool = False) -> list[str]:
    seen = {id: numbers(function(**call)) for id, call in CALLS.items()}
    if in_place:
        once = function(**CALLS["again"])
        seen["again"] = numbers(function(once, 3.0))
    return [each.id for each in doctor().diagnose(seen)]


@pytest.mark.parametrize(
    ("expected", "function"),
    [
        ("rate_ignored", lambda x, rate=10.0: grow(x)),
        ("shrunk", lambda x, rate=10.0: grow(x, rate, sign=-1.0)),
        ("rate_fixed", lambda x, rate=10.0: grow(x, 2.0)),
        pytest.param("rate_fixed", lambda x, rate=10.0: grow(x, 137.0), id="another constant"),
        ("shifted", lambda x, rate=10.0: grow(x, rate) + 0.625),
        ("rate_ignored+shrunk", lambda x, rate=10.0: grow(x, sign=-1.0)),
        ("rate_fixed+negative", lambda x, rate=10.0: -grow(x, 2.0)),
    ],
)
def test_mistakes_in_a_rule_are_found_alone_with_a_constant_and_in_pairs(
    expected: str, function: Callable[..., torch.Tensor]
) -> None:
    assert explained(function) == [expected]


def test_a_result_written_into_the_argument_is_found_together_with_a_mistake() -> None:
    assert explained(lambda x, rate=10.0: grow(x, rate), in_place=True) == ["in_place"]
    assert explained(lambda x, rate=10.0: -grow(x, rate), in_place=True) == ["negative+in_place"]


@pytest.mark.parametrize(
    ("parameters", "key"),
    [(("rate",), "nothing"), (("rate",), "width"), (("x",), "width")],
)
def test_what_is_remembered_of_an_earlier_call_is_named(
    parameters: tuple[str, ...], key: str
) -> None:
    calls: dict[str, dict[str, object]] = {
        "one": {"x": RIGHT.double(), "rate": 4.0},
        "two": {"x": OTHER.double(), "rate": 9.0},
        "three": {"x": shaped(4, 2), "rate": 5.0},
        "four": {"x": shaped(4, 2) + 1, "rate": 6.0},
    }
    kept: dict[object, dict[str, object]] = {}
    seen: dict[str, Numbers] = {}
    for id, call in calls.items():
        place = call["x"].shape[-1] if key == "width" else None  # type: ignore[attr-defined]
        old = kept.setdefault(place, call)
        given = call | {name: old[name] for name in parameters}
        seen[id] = numbers(grow(**given))  # type: ignore[arg-type]
    right = {id: numbers(grow(**call)) for id, call in calls.items()}  # type: ignore[arg-type]
    questions = [
        Question(probe=Probe(id=id, function="f", arguments={}), arguments=call, first={})
        for id, call in calls.items()
    ]
    what = Knowledge(probes={"f": tuple(calls)}, right=right, known=(), rules=(RULE,))

    (found,) = Diagnostician(what, questions).diagnose(seen)

    assert found.id == "near.remembers"
    assert f"uses {parameters[0]} of an earlier call" in found.title.en


def test_a_fitted_constant_stands_in_the_title() -> None:
    seen = {id: numbers(grow(call["x"], 137.0)) for id, call in CALLS.items()}  # type: ignore[arg-type]

    (found,) = doctor().diagnose(seen)

    assert found.title.en == "rate_fixed 137"


@pytest.mark.parametrize(
    "function",
    [
        lambda x, rate=10.0: grow(x, rate) * (1 + 1e-6),
        lambda x, rate=10.0: grow(x.float(), rate),
        lambda x, rate=10.0: x**3 + rate,
        lambda x, rate=10.0: grow(x, rate) + x.sin(),
    ],
    ids=["nearly right", "in 32 bits", "a power", "a sine added"],
)
def test_right_numbers_and_strange_ones_are_not_explained(
    function: Callable[..., torch.Tensor],
) -> None:
    assert explained(function) == []


def test_what_is_answered_is_explained_where_the_rest_raises() -> None:
    seen = {id: numbers(grow(call["x"], sign=-1.0)) for id, call in CALLS.items()}  # type: ignore[arg-type]
    seen["usual"] = Numbers(raised="ValueError: not enough values")

    assert [each.id for each in doctor().diagnose(seen)] == ["rate_ignored+shrunk"]


def test_too_few_numbers_explain_nothing() -> None:
    seen = {id: Numbers(raised="ValueError: no") for id in CALLS}
    seen["usual"] = numbers(-grow(RIGHT.double()))

    assert doctor().diagnose(seen) == ()


def test_rules_come_back_from_their_packed_form() -> None:
    assert unpack(pack((RULE,)))[0].steps[1].mistakes[0].formula == "x * 2 ** -(x / rate)"
    assert pack(unpack(pack((RULE,)))) == pack((RULE,))
    with pytest.raises(ValueError, match="damaged"):
        unpack("NotPacked")


# --- the shipped assignments -------------------------------------------------------------------

FOLDERS = sorted((Path(__file__).parent.parent / "assignments").glob("hw*"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_formula_of_an_assignment_can_be_read_and_is_up_to_date(folder: Path) -> None:
    assignment, problems = assignments.load(folder), []  # type: ignore[var-annotated]
    gallery = misconceptions.read(
        folder, assignment.id, [each.id for each in assignment.criteria], problems
    )

    rules = reading.read(folder, assignment.entry_points, gallery, problems)
    knowledge = stored.load(folder / "diagnosis.json")

    assert problems == []
    assert knowledge is not None
    assert pack(rules) == pack(knowledge.rules)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_right_formulas_give_the_right_numbers_and_each_mistake_others(folder: Path) -> None:
    assert formulas.astray(folder, (folder / "diagnosis.json").read_text("utf-8")) == []


def test_right_steps_that_are_wrong_and_mistakes_that_are_none_are_the_authors_error() -> None:
    right = {id: numbers(grow(**call)) for id, call in CALLS.items()}  # type: ignore[arg-type]
    harmless = Step(name="end", right="out", mistakes=(mistake("harmless", "grown"),))
    wrong = Step(name="end", right="out + 1")

    def found(*steps: Step) -> list[dict[str, object]]:
        rule = Rule(function="f", steps=(*RULE.steps[:3], *steps))
        questions = [
            Question(probe=Probe(id=id, function="f", arguments={}), arguments=call, first={})
            for id, call in CALLS.items()
        ]
        what = Knowledge(probes={"f": tuple(CALLS)}, right=right, known=(), rules=(rule,))
        return [*map(dict, checking.astray(Diagnostician(what, questions).explainers))]

    assert found() == []
    assert found(harmless) == [{"function": "f", "mistake": "harmless"}]
    assert found(wrong) == [{"function": "f", "probes": [*CALLS]}]


def test_a_diagnosis_file_holds_no_list_of_pairs_and_stays_small() -> None:
    for folder in FOLDERS:
        knowledge = stored.load(folder / "diagnosis.json")
        assert knowledge is not None
        assert not [each.id for each in knowledge.known if "+" in each.id]
        assert (folder / "diagnosis.json").stat().st_size < 64 * 1024


# --- how probes call ---------------------------------------------------------------------------


class FakeSession:
    """Answers calls with a function that has parameters of its own names."""

    def __init__(self, function: Callable[..., float]) -> None:
        self.function = function
        self.calls: list[tuple[tuple[object, ...], dict[str, object]]] = []

    def call(
        self,
        name: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        *,
        allowance: int,
    ) -> Returned | Raised:
        self.calls.append((args, kwargs))
        try:
            return Returned(value=self.function(*args, **kwargs), claims={}, stdout="")
        except TypeError as error:
            return Raised(type="TypeError", message=str(error), trace=(), stdout="")


def ask(function: Callable[..., float], **given: object) -> tuple[object, FakeSession]:
    session = FakeSession(function)
    seen = probes.ask("f", session, ["x", "positions", "base"], given)  # type: ignore[arg-type]
    return (seen.value if isinstance(seen, Returned) else seen), session


def test_a_probe_calls_by_place_whatever_the_parameters_are_called() -> None:
    value, session = ask(lambda h, p, theta: h + p + theta, x=1.0, positions=2.0, base=4.0)

    assert value == 7.0
    assert session.calls == [((1.0, 2.0, 4.0), {})]


def test_behind_a_gap_a_probe_calls_by_name() -> None:
    value, session = ask(lambda x, positions=3.0, base=9.0: x + positions + base, x=1.0, base=4.0)

    assert value == 8.0
    assert session.calls == [((1.0,), {"base": 4.0})]


def test_a_gap_is_filled_where_the_parameter_behind_it_has_another_name() -> None:
    value, session = ask(lambda h, p=None, theta=9.0: h + theta, x=1.0, base=4.0)

    assert value == 5.0
    assert session.calls[-1] == ((1.0, None, 4.0), {})


def test_a_call_that_gives_other_numbers_each_time_is_told_from_a_steady_one() -> None:
    assignment = assignments.load(next(each for each in FOLDERS if each.name.startswith("hw3")))
    count = itertools.count()

    def restless(function: Callable[..., float]) -> tuple[str, ...]:
        return probes.restless(assignment, FakeSession(function))  # type: ignore[arg-type]

    assert restless(lambda *args: next(count) + 0.5) == ("sinusoid_value", "sinusoid_period")
    assert restless(lambda *args: 0.5) == ()


# --- explanations.toml is read strictly ----------------------------------------------------------


def problems_of(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "explanations.toml").write_text(text, "utf-8")
    problems: list[str] = []
    entry = assignments.load(FOLDERS[-1]).entry_points
    reading.read(tmp_path, entry, (), problems)
    return [each.partition(", ")[2] for each in problems]


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("x.sum()", "formulas have no function x.sum"),
        ("__import__", 'no name "__import__" before this step; known are base, positions, x'),
        ("open('x')", "formulas have no function open"),
        ("[x]", "formulas have no List"),
        ("x if x else 0", "formulas have no IfExp"),
        ("x + turned", 'no name "turned" before this step; known are base, positions, x'),
        ("x + ", "no expression of Python: invalid syntax"),
        ("lambda: x", "formulas have no Lambda"),
        ("sin", "sin is a function"),
        ("x + True", "formulas have no True"),
    ],
)
def test_a_formula_of_another_language_is_refused(
    tmp_path: Path, formula: str, problem: str
) -> None:
    text = (
        '[[functions]]\nname = "apply_rope"\n[[functions.steps]]\nname = "turned"\n'
        f'right = "{formula}"\n'
    )

    (found,) = problems_of(tmp_path, text)

    assert found.startswith(f"functions[0].steps[0].right: {problem}")


def test_a_mistake_needs_a_name_a_hint_and_a_formula(tmp_path: Path) -> None:
    text = (
        '[[functions]]\nname = "apply_rope"\n[[functions.steps]]\nname = "turned"\nright = "x"\n'
        'mistakes = [{ id = "a", title = { en = "A", zh = "甲" } }, { misconception = "b",'
        ' formula = "-x" }]\n'
    )

    found = problems_of(tmp_path, text)

    assert any("expected a table with either formula or written" in each for each in found)
    assert any('the key "hint" is missing, here and in the step' in each for each in found)
    assert any('no misconception "b"' in each for each in found)
