"""The language of `explanations.toml`: one Python expression for each step, nothing else of Python.

Read in the front desk, so nothing here loads numpy; `numbers` evaluates what is accepted here.
"""

import ast
from typing import Final

# A step that a formula uses, a parameter, the constant of a mistake: plain names.
CONSTANT: Final = "c"
FUNCTIONS: Final = (
    "abs",
    "arange",
    "ceil",
    "clip",
    "cos",
    "cumsum",
    "default",
    "exp",
    "flip",
    "floor",
    "gather",
    "gelu",
    "half",
    "brain",
    "join",
    "log",
    "log10",
    "log2",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "nan",
    "norm",
    "rank",
    "relu",
    "repeat",
    "reshape",
    "roll",
    "round",
    "shape",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "sort",
    "sqrt",
    "squeeze",
    "stack",
    "std",
    "sum",
    "swap",
    "tan",
    "tanh",
    "trunc",
    "weave",
    "where",
    "zeros",
)
_NODES: Final = (
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.MatMult,
    ast.UnaryOp,
    ast.USub,
    ast.Compare,
    ast.Eq,
    ast.NotEq,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.Call,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
)
_LONGEST: Final = 400


def parse(formula: str) -> ast.expr:
    """The formula's tree.

    Raises:
        ValueError: saying what the language does not have.
    """
    if len(formula) > _LONGEST:
        raise ValueError(f"a formula has at most {_LONGEST} characters")
    try:
        tree = ast.parse(formula, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"no expression of Python: {error.msg}") from error
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        _refuse(node, called=id(node) in called)
    return tree


def _refuse(node: ast.AST, *, called: bool) -> None:
    if not isinstance(node, _NODES):
        raise ValueError(f"formulas have no {type(node).__name__}")  # noqa: TRY004
    if isinstance(node, ast.Compare) and len(node.ops) != 1:
        raise ValueError("formulas compare two things at a time")
    if isinstance(node, ast.Call):
        if node.keywords:
            raise ValueError("functions take their arguments by place")
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            raise ValueError(f"formulas have no function {ast.unparse(node.func)}")
    if isinstance(node, ast.Constant) and (isinstance(node.value, bool | str | bytes | complex)):
        raise ValueError(f"formulas have no {node.value!r}")  # noqa: TRY004
    if isinstance(node, ast.Name) and node.id in FUNCTIONS and not called:
        raise ValueError(f"{node.id} is a function")


def names(formula: str) -> frozenset[str]:
    """The names that the formula needs: steps, parameters and the constant."""
    tree = parse(formula)
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return frozenset(found - set(FUNCTIONS))
