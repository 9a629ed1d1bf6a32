"""Formulas on numpy arrays: what they give, or that they give nothing."""

import ast
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import torch

from grader.explaining import grammar

Value = Any
Names = Mapping[str, Value]
Formula = Callable[[Names], Value]

# What a formula that does not fit its arguments may raise.
UNFIT: Final = (
    ValueError,
    IndexError,
    TypeError,
    KeyError,
    ZeroDivisionError,
    OverflowError,
    MemoryError,
    np.exceptions.AxisError,
)
_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., Value]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: lambda one, other: np.power(one, np.asarray(other, dtype=np.float64)),
    ast.MatMult: operator.matmul,
    ast.USub: operator.neg,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _softmax(x: Value, axis: Value) -> Value:
    raised = np.exp(x - np.max(x, axis=int(axis), keepdims=True))
    return raised / raised.sum(axis=int(axis), keepdims=True)


def _rounded(dtype: torch.dtype) -> Callable[[Value], Value]:
    def to(x: Value) -> Value:
        return torch.as_tensor(np.asarray(x)).to(dtype).to(torch.float64).numpy()

    return to


def _weave(one: Value, other: Value) -> Value:
    """Columns of both by turns: one's first, the other's first, one's second, …"""
    return np.stack([one, other], axis=-1).reshape(*one.shape[:-1], -1)


def _deviation(x: Value, axis: Value, less: Value) -> Value:
    """As `np.std`, which warns where a single number has no deviation."""
    squares = np.square(x - np.mean(x, axis=int(axis), keepdims=True))
    count = np.float64(x.shape[int(axis)] - less)
    return np.sqrt(np.sum(squares, axis=int(axis), keepdims=True) / count)


def _along(function: Callable[..., Value]) -> Callable[[Value, Value], Value]:
    return lambda x, axis: function(x, axis=int(axis))


def _kept(function: Callable[..., Value]) -> Callable[[Value, Value], Value]:
    return lambda x, axis: function(x, axis=int(axis), keepdims=True)


_FUNCTIONS: Final[Mapping[str, Callable[..., Value]]] = {
    "abs": np.abs,
    "arange": lambda *bounds: np.arange(*(float(each) for each in bounds)),
    "brain": _rounded(torch.bfloat16),
    "ceil": np.ceil,
    "clip": np.clip,
    "cos": np.cos,
    "cumsum": _along(np.cumsum),
    "exp": np.exp,
    "flip": _along(np.flip),
    "floor": np.floor,
    "gather": lambda x, places, axis: np.take_along_axis(x, _place(places), axis=int(axis)),
    "gelu": lambda x: torch.nn.functional.gelu(torch.as_tensor(x)).numpy(),
    "half": _rounded(torch.float16),
    "join": lambda one, other, axis: np.concatenate([one, other], axis=int(axis)),
    "log": np.log,
    "log10": np.log10,
    "log2": np.log2,
    "max": _kept(np.max),
    "maximum": np.maximum,
    "mean": _kept(np.mean),
    "min": _kept(np.min),
    "minimum": np.minimum,
    "nan": lambda: np.nan,
    "norm": lambda x, axis: np.sqrt(np.sum(np.square(x), axis=int(axis), keepdims=True)),
    "rank": lambda x: np.argsort(x, kind="stable"),
    "relu": lambda x: np.maximum(x, 0),
    "repeat": lambda x, times, axis: np.repeat(x, int(times), axis=int(axis)),
    "reshape": lambda x, *sizes: np.reshape(x, [int(each) for each in sizes]),
    "roll": lambda x, by, axis: np.roll(x, int(by), axis=int(axis)),
    "round": lambda x, digits=0: np.round(x, int(digits)),
    "shape": lambda x, axis: float(x.shape[int(axis)]),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sign": np.sign,
    "sin": np.sin,
    "softmax": _softmax,
    "sort": _along(np.sort),
    "sqrt": np.sqrt,
    "squeeze": _along(np.squeeze),
    "stack": lambda one, other, axis: np.stack([one, other], axis=int(axis)),
    "std": _deviation,
    "sum": _kept(np.sum),
    "swap": lambda x, one, other: np.swapaxes(x, int(one), int(other)),
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
    "weave": _weave,
    "where": np.where,
    "zeros": np.zeros_like,
}


def compiled(formula: str, steps: Mapping[str, str]) -> Formula:
    """The formula as a function of its names.

    Args:
        steps: the names that stand for earlier steps, and what those are called; a step may hide
            the parameter that it begins with.

    Raises:
        ValueError: when it is not one of the language.
    """
    return _node(_Renamed(steps).visit(grammar.parse(formula)))


class _Renamed(ast.NodeTransformer):
    def __init__(self, steps: Mapping[str, str]) -> None:
        self._steps = steps

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(id=self._steps.get(node.id, node.id), ctx=node.ctx)


def _node(node: ast.expr) -> Formula:
    match node:
        case ast.Constant(value=value):
            return lambda _: value
        case ast.Name(id=id):
            return lambda names: names[id]
        case ast.Call(func=ast.Name(id="default"), args=[ast.Name(id=given), otherwise]):
            return _default(given, _node(otherwise))
        case ast.Call(func=ast.Name(id=id), args=args):
            function, parts = _FUNCTIONS[id], [_node(each) for each in args]
            return lambda names: function(*(part(names) for part in parts))
        case ast.BinOp(left=left, op=op, right=right):
            return _two(_OPERATORS[type(op)], _node(left), _node(right))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _two(_OPERATORS[type(op)], _node(left), _node(right))
        case ast.UnaryOp(operand=operand):
            inner = _node(operand)
            return lambda names: -inner(names)
        case ast.Subscript(value=value, slice=key):
            return _two(operator.getitem, _node(value), _key(key))
        case ast.Tuple(elts=elements):
            parts = [_node(each) for each in elements]
            return lambda names: tuple(part(names) for part in parts)
    raise ValueError(f"formulas have no {type(node).__name__}")


def _default(given: str, otherwise: Formula) -> Formula:
    """The argument, or what stands for it where the caller left it out (where it is NaN)."""

    def value(names: Names) -> Value:
        seen = names.get(given)
        if seen is None:
            return otherwise(names)
        missing = np.isnan(seen)
        return np.where(missing, otherwise(names), seen) if missing.any() else seen

    return value


def _two(function: Callable[[Value, Value], Value], one: Formula, other: Formula) -> Formula:
    return lambda names: function(one(names), other(names))


def _key(node: ast.expr) -> Formula:
    """Part of a subscript: places are whole numbers, whatever a formula computes."""
    match node:
        case ast.Tuple(elts=elements):
            parts = [_key(each) for each in elements]
            return lambda names: tuple(part(names) for part in parts)
        case ast.Slice(lower=lower, upper=upper, step=step):
            bounds = [None if each is None else _key(each) for each in (lower, upper, step)]
            return lambda names: slice(*(each and each(names) for each in bounds))
        case ast.Constant(value=None) | ast.Constant(value=types.EllipsisType()):
            fixed = node.value
            return lambda _: fixed
    inner = _node(node)
    return lambda names: _place(inner(names))


def _place(value: Value) -> Value:
    if isinstance(value, np.ndarray) and value.ndim:
        return value if value.dtype == np.bool_ else value.astype(np.int64)
    return int(value)
