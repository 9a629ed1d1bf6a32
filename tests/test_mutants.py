"""Mutants of a program: which changes are made, and that each is a program of its own."""

import ast

import pytest

from grader.verifying.mutants import Mutant, mutants

HEAD = "import torch\n\ndef f(x, y=2):\n"


def changes(body: str, *, head: str = HEAD) -> list[str]:
    """The new statements of all mutants of a function body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return [each.new for each in mutants(head + lines)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x[..., 0::2]", "return x[..., 1::2]"),
        ("return x[..., ::2]", "return x[..., 1::2]"),
        ("return x[..., 1::2]", "return x[..., 0::2]"),
        ("return x[1:3]", "return x[3:1]"),
        ("return x.sum(-1)", "return x.sum(-2)"),
        ("return x.sum(-1)", "return x.sum(0)"),
        ("return x.sum(0)", "return x.sum(1)"),
        ("return x.sin()", "return x.cos()"),
        ("return torch.cos(x)", "return torch.sin(x)"),
        ("return x * 3", "return x * 4"),
        ("return x * 3", "return x * 2"),
        ("return x * 3", "return x * 0"),
        ("return x * 3", "return x * 6"),
        ("return x * 3", "return x * -3"),
        ("return torch.arange(x)", "return torch.arange(x + 1)"),
        ("return torch.arange(x)", "return torch.arange(1, x)"),
        ("return torch.arange(0, x)", "return torch.arange(1, x)"),
        ("return x.float()", "return x"),
        ("return x.float()", "return x.bfloat16()"),
        ("return x.to(torch.float32)", "return x.to(torch.float16)"),
        ("return x.to(x.dtype)", "return x"),
        ("return torch.arange(x, dtype=torch.float32)", "return torch.arange(x)"),
        ("return torch.outer(x, y)", "return torch.outer(y, x)"),
        ("return torch.stack((x, y))", "return torch.stack((y, x))"),
        ("return torch.stack([x, y], dim=-1)", "return torch.stack([x, y])"),
        ("return x.clone()", "return x"),
        ("return torch.tanh(x)", "return x"),
        ("return x + y", "return x.add_(y)"),
        ("return x.mul(y)", "return x.mul_(y)"),
        ("return torch.add(x, y)", "return x.add_(y)"),
        ("return x + y", "return x - y"),
        ("return x + y", "return x"),
        ("return x - y", "return y - x"),
        ("return x @ y", "return y @ x"),
        ("return x == y", "return x != y"),
        ("return x < y", "return x <= y"),
        ("return x is None", "return x is not None"),
        ("return not x", "return x"),
        ("return -x", "return x"),
        ("return x and y", "return x or y"),
        ("return x.sum(0, keepdim=True)", "return x.sum(0, keepdim=False)"),
        ("return x", "return -x"),
        ("return x + y", "return x % 512 + y"),
        ("return x + y", "return x - (x > 512) * (x - 512) + y"),
        ("z = x\nreturn y * z", "return y * -z"),
        ("return x", "pass"),
        ("x = x + y", "x += y"),
        ("x += y", "x -= y"),
        ("x += y", "x = y"),
        ("a, b = x, y", "b, a = (x, y)"),
        ("if x:\n    y = 1", "if True:"),
        ("if x:\n    y = 1", "if not x:"),
        ("if x:\n    y = 1", "pass"),
        ("while x:\n    y = 1", "while False:"),
        ("for x in y:\n    break", "for x in []:"),
        ("for x in y:\n    break", "continue"),
        ("return [x for x in y if x]", "return [x for x in y if True]"),
        ("return x if y else 3", "return x if False else 3"),
        (
            'return torch.meshgrid(x, y, indexing="ij")',
            "return torch.meshgrid(x, y, indexing='xy')",
        ),
    ],
)
def test_each_kind_of_mistake_is_made(body: str, expected: str) -> None:
    assert expected in changes(body)


def test_a_default_is_changed_and_left_out() -> None:
    heads = changes("return x")

    assert {"def f(x, y=3):", "def f(x, y=0):", "def f(x, y):"} <= set(heads)


def test_a_parameter_with_a_small_default_is_no_size() -> None:
    made = changes("return x * rate * base", head="def f(x, rate=0.5, base=10000.0):\n")

    assert "return x * rate * (base % 512)" in made
    assert "return x % 512 * rate * base" in made
    assert not any("rate % 512" in each or "rate > 512" in each for each in made)


def test_a_decorator_is_left_out() -> None:
    found = mutants("@cache\ndef f(x):\n    return x\n")

    assert "def f(x):" in [each.new for each in found]


def test_every_mutant_compiles_and_differs_from_the_program_and_from_the_others() -> None:
    program = (
        HEAD + "    a, b = x[..., 0::2], x[..., 1::2]\n    return torch.cat((a + y, b * 1), -1)\n"
    )
    found = mutants(program)
    trees = [ast.dump(compile(each.text, "m", "exec", ast.PyCF_ONLY_AST)) for each in found]

    assert len(found) > 40
    assert len(set(trees)) == len(trees)
    assert ast.dump(ast.parse(program)) not in trees


def test_a_mutant_names_the_line_and_the_statement_that_changed() -> None:
    found = mutants("def f(x):\n    # why\n    if x:\n        x = 1\n    return x\n")
    (forced,) = [each for each in found if each.new == "if True:"]

    assert (
        Mutant(
            operator="conditions",
            line=3,
            old="if x:",
            new="if True:",
            text="def f(x):\n    if True:\n        x = 1\n    return x\n",
        )
        == forced
    )


@pytest.mark.parametrize(
    "program",
    [
        "import torch\n",
        '"""Text."""\n',
        'if __name__ == "__main__":\n    print(1 + 2)\n',
    ],
)
def test_what_the_grader_never_runs_is_not_changed(program: str) -> None:
    assert mutants(program) == ()


def test_annotations_texts_errors_and_devices_are_not_changed() -> None:
    program = (
        "def f(x: Tensor[1]) -> Tensor[2]:\n"
        '    """Three: 3."""\n'
        '    raise ValueError(f"{x + 4}")\n'
        "    torch.zeros(x, device=x.device)\n"
    )
    seen = "\n".join(each.text for each in mutants(program))

    assert "Tensor[1]" in seen
    assert "Tensor[0]" not in seen
    assert "x + 5" not in seen
    assert "torch.zeros(x)\n" not in seen


def test_a_loop_is_never_made_endless() -> None:
    assert "while True:" not in changes("while x:\n    y = 1")


def test_a_program_that_cannot_be_parsed_is_refused() -> None:
    with pytest.raises(SyntaxError):
        mutants("def f(:\n")
