"""What the suites of the four assignments let through: kinds of wrong answers at many sizes."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from students import graded, kept, said

ROPE = """import torch
def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    {start}
    rates = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer({positions}.float(), rates)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
"""
FROM_0 = "positions = torch.arange(length) if positions is None else positions"
FROM_1 = "positions = torch.arange(1, length + 1) if positions is None else positions"
ALL = ["turning", "values", "positions", "base", "manners", "long"]
ALL_BUT_VALUES = [each for each in ALL if each != "values"]
NEAR = [each for each in ALL if each != "long"]


def rope(positions: str = "positions", *, start: str = FROM_0, shape: str = "") -> str:
    text = ROPE.format(start=start, positions=positions)
    return text.replace("length, width = x.shape[-2:]", shape) if shape else text


@pytest.mark.long
def test_positions_that_wrap_stop_or_end_below_16384_cost_the_last_point(tmp_path: Path) -> None:
    sources = {"right": rope()}
    for size in (512, 1000, 2048, 4096, 10000, 16000, 16383):
        sources[f"wrap_{size}"] = rope(f"(positions % {size})")
        sources[f"stop_{size}"] = rope(f"positions.clamp(max={size - 1})")
        sources[f"end_{size}"] = rope(f"torch.arange({size})[positions.long()]")
    sources["enough"] = rope("torch.arange(16384)[positions.long()]")
    sources["narrow"] = rope("positions.to(torch.int16)")
    sources["rows_only"] = rope(
        start="positions = torch.arange(length) % 2048 if positions is None else positions"
    )

    reports = graded(tmp_path, sources)

    whole = {"right", "enough", "narrow"}
    assert {name: kept(each) for name, each in reports.items()} == {
        name: ALL if name in whole else NEAR for name in sources
    }


SHAPES = {
    "rows": "length, width = x.shape",
    "batch": "_, length, width = x.shape",
    "heads": "_, _, length, width = x.shape",
    "no_rows": "length, width = x.shape[-2:]\n    assert x.dim() > 2",
}


@pytest.mark.long
def test_one_shape_alone_costs_the_values_of_hw4_only(tmp_path: Path) -> None:
    sources = {name: rope(shape=line) for name, line in SHAPES.items()}
    always = "length, width = x.shape[-2:]\n    x = x.reshape(-1, *x.shape[-2:])"
    sources["always_a_batch"] = rope(shape=always)

    reports = graded(tmp_path, sources)

    for name, report in reports.items():
        assert kept(report) == ALL_BUT_VALUES, name


def test_a_call_in_the_only_shape_is_told_as_it_was_made(tmp_path: Path) -> None:
    text = rope("(positions % 512)", shape=SHAPES["batch"])

    (report,) = graded(tmp_path, {"batch": text}).values()

    lost = [each for each in report["tests"] if each["criterion"] == "long" and each["message"]]
    assert "[None]" in "\n".join(lost[0]["message"]["args"]["tried"])


def test_a_mistake_in_the_default_positions_is_charged_once(tmp_path: Path) -> None:
    given = "else positions"
    sources = {
        "from_1": rope(start=FROM_1),
        "backwards": rope(
            start=f"positions = torch.arange(length).flip(0) if positions is None {given}"
        ),
        "ignored": rope(start="positions = torch.arange(length)"),
        "ignored_from_1": rope(start="positions = torch.arange(1, length + 1)"),
        "given_plus_1": rope(
            start="positions = torch.arange(length) if positions is None else positions + 1"
        ),
        "given_minus_1": rope(
            start="positions = torch.arange(length) if positions is None else positions - 1"
        ),
        "given_doubled": rope(
            start="positions = torch.arange(length) if positions is None else 2 * positions"
        ),
        "given_in_half": rope(
            start="positions = torch.arange(length).float() if positions is None"
            " else positions.to(x.dtype)"
        ),
    }

    reports = graded(tmp_path, sources)

    lost = {name: [c for c in ALL if c not in kept(each)] for name, each in reports.items()}
    assert lost == {
        "from_1": ["values"],
        "backwards": ["values"],
        "ignored": ["positions"],
        "ignored_from_1": ["values", "positions"],
        "given_plus_1": ["positions"],
        "given_minus_1": ["positions"],
        "given_doubled": ["positions"],
        "given_in_half": ["manners"],
    }


NOT_TURNED = """import torch
def apply_rope(x, positions=None, base=10000.0):
    p = torch.arange(x.shape[-2]) if positions is None else positions
    {body}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "body",
    [
        "return x * (1 - 2 * (p % 2)).unsqueeze(-1).to(x.dtype)",
        "return x * (1 - 2 * ((p // 2) % 2)).unsqueeze(-1).to(x.dtype)",
        # One pair of two changes its sign, every second row, by a speed that base decides.
        "s = (1 - 2 * (p % 2)).unsqueeze(-1).to(x.dtype)\n"
        "    k = max(2, x.shape[-1] // (2 if base > 1 else 1))\n"
        "    return torch.cat((x[..., :k] * s, x[..., k:]), dim=-1)",
        "return x.roll(1, -1) * (1 - 2 * (p % 2)).unsqueeze(-1).to(x.dtype)",
        "return x",
    ],
)
def test_what_only_changes_signs_turns_nothing(tmp_path: Path, body: str) -> None:
    (report,) = graded(tmp_path, {"signs": NOT_TURNED.format(body=body)}).values()

    assert not {"turning", "values", "base"} & set(kept(report))
    assert report["score"] <= 3


SINUSOID = """import math
def sinusoid_value(pos, i, d_model, base=10000.0):
    {line}
    return math.sin(pos / base ** (2 * i / d_model))
def sinusoid_period(i, d_model, base=10000.0):
    {line}
    return 2 * math.pi * base ** (2 * i / d_model)
"""


@pytest.mark.long
def test_hw3_sees_positions_and_pairs_that_wrap_or_stop(tmp_path: Path) -> None:
    lines = {"right": "pass"}
    for size in (512, 710, 4096, 12000, 16383):
        lines[f"wrap_{size}"] = f"pos = pos % {size} if 'pos' in locals() else 0"
        lines[f"stop_{size}"] = f"pos = min(pos, {size - 1}) if 'pos' in locals() else 0"
    for size in (64, 512, 1023):
        lines[f"pairs_{size}"] = f"i = min(i, {size - 1})"
    lines["width"] = "d_model = min(d_model, 1024)"

    reports = graded(tmp_path, {name: SINUSOID.format(line=each) for name, each in lines.items()})

    scores = {name: each["score"] for name, each in reports.items()}
    assert scores.pop("right") == 10
    assert all(0 < score < 10 for score in scores.values()), scores
    for name, size in itertools.product(("wrap", "stop"), (12000, 16383)):
        assert scores[f"{name}_{size}"] == 8, (name, size)


def test_in_hw3_a_relative_test_says_whose_numbers_it_compares(tmp_path: Path) -> None:
    sources = {
        "frequency": "import math\ndef sinusoid_period(i, d_model, base=10000.0):\n"
        "    return 1 / (2 * math.pi * base ** (2 * i / d_model))\n",
        "from_1": "import math\ndef sinusoid_value(pos, i, d_model, base=10000.0):\n"
        "    return math.sin((pos + 1) / base ** (2 * i / d_model))\n",
    }

    reports = graded(tmp_path, sources)

    assert "Your own period of pair 0 is 0.1592, and 10 times that is" in said(reports["frequency"])
    assert "你自己算出的第 0 对周期是" in said(reports["frequency"], "zh")
    assert "Your own values: -0.9589 for pair 0 at position 4" in said(reports["from_1"])
    for report, right in ((reports["frequency"], {"6.283"}), (reports["from_1"], None)):
        for each in report["tests"]:
            told = (each["message"] or {"args": {}})["args"].get("expected")
            if each["visibility"] == "shown" and right and told:
                assert told in right, each["id"]


IN_PLACE = """import torch
def apply_rope(x, positions=None, base=10000.0):
    length, width = x.shape[-2:]
    positions = torch.arange(length) if positions is None else positions
    angles = torch.outer(positions.float(), base ** (-torch.arange(0, width, 2).float() / width))
    a, b = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = a * angles.cos() - b * angles.sin()
    x[..., 1::2] = a * angles.sin() + b * angles.cos()
    return x
"""


@pytest.mark.long
def test_in_hw4_own_numbers_are_never_called_expected(tmp_path: Path) -> None:
    reports = graded(tmp_path, {"in_place": IN_PLACE, "from_1": rope(start=FROM_1)})

    for report in reports.values():
        own = [
            each["message"]
            for each in report["tests"]
            if each["visibility"] == "shown"
            and each["criterion"] != "values"
            and (each["message"] or {"code": ""})["code"].startswith("hw4.")
        ]
        assert all("expected" not in each["args"] for each in own)
    assert "The first call has changed x" in said(reports["in_place"])
    assert "第一次调用改动了 x" in said(reports["in_place"], "zh")


TOKENS = """import torch
def add_position_vectors(token_vectors, position_vectors):
    {body}
"""


@pytest.mark.long
def test_hw1_charges_for_shapes_under_one_criterion_and_sees_sizes(tmp_path: Path) -> None:
    add = "return token_vectors + position_vectors"
    bodies = {
        "right": add,
        "rows": f"length, width = token_vectors.shape\n    {add}",
        "batch": f"batch, length, width = token_vectors.shape\n    {add}",
        "batch_and_table": f"assert position_vectors.dim() == 3\n    {add}",
        "table_of_a_batch": "return token_vectors + position_vectors[0]",
        "one_in_front": "sums = token_vectors + position_vectors\n"
        "    return sums.reshape(-1, *token_vectors.shape[-2:])",
        "rows_of_512": "sums = token_vectors.clone()\n"
        "    sums[..., :512, :] += position_vectors[..., :512, :]\n    return sums",
        "sentences_of_256": "sums = token_vectors + position_vectors\n"
        "    if sums.dim() == 3:\n        sums[256:] = token_vectors[256:]\n    return sums",
        "numbers_of_512": "sums = token_vectors.clone()\n"
        "    sums[..., :512] += position_vectors[..., :512]\n    return sums",
        "at_most_1000": "return (token_vectors + position_vectors).clamp(-1000, 1000)",
    }

    reports = graded(tmp_path, {name: TOKENS.format(body=each) for name, each in bodies.items()})

    assert {name: each["score"] for name, each in reports.items()} == {
        "right": 10,
        "rows": 7,
        "batch": 7,
        "batch_and_table": 7,
        "table_of_a_batch": 7,
        "one_in_front": 7,
        "rows_of_512": 3,
        "sentences_of_256": 7,
        "numbers_of_512": 3,
        "at_most_1000": 3,
    }


MASK = """import torch
def mask_padding(embeddings, attention_mask):
    mask = attention_mask == 0
    {body}
"""


def test_hw2_sees_sizes(tmp_path: Path) -> None:
    fill = "return embeddings.masked_fill(mask.unsqueeze(-1), 0.0)"
    bodies = {
        "right": fill,
        "places": f"mask[:, 512:] = False\n    {fill}",
        "sentences": f"mask[256:] = False\n    {fill}",
        "numbers": "out = embeddings.clone()\n"
        "    out[..., :512].masked_fill_(mask.unsqueeze(-1), 0.0)\n    return out",
        "large": f"embeddings = embeddings.clamp(max=1e9)\n    {fill}",
        "small": f"embeddings = torch.where(embeddings.abs() < 1e-9, 0.0, embeddings)\n    {fill}",
    }

    reports = graded(tmp_path, {name: MASK.format(body=each) for name, each in bodies.items()})

    scores: dict[str, Any] = {name: each["score"] for name, each in reports.items()}
    assert scores.pop("right") == 10
    assert set(scores.values()) == {4}, scores
