"""What can be changed in an expression: the operators by which mutants are made.

The general ones are those of cosmic-ray (binary, unary, comparison and boolean operators,
numbers, `True`/`False`, conditions). They are written over `ast` here, because cosmic-ray edits
parso trees, brings a database and a web client along, and knows nothing of tensors: dims, slices,
dtypes, arange bounds and in-place methods are where tensor code goes wrong.
"""

import ast
import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What an operator has to know beyond the expression itself.

    Args:
        parent: the node that holds the expression.
        modules: the names of imported modules: `torch.cos(x)` is no method of an object.
        parameters: the names of what callers give.
    """

    parent: ast.AST
    modules: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()


Operator: TypeAlias = Callable[[ast.expr, Surroundings], Iterator[ast.expr]]

_SWAPPED: Final[Mapping[str, tuple[str, ...]]] = {
    "sin": ("cos",),
    "cos": ("sin",),
    "exp": ("log",),
    "log": ("exp",),
    "sqrt": ("square",),
    "rsqrt": ("sqrt",),
    "pi": ("tau", "e"),
    "tau": ("pi",),
    "add": ("sub",),
    "sub": ("add",),
    "mul": ("div",),
    "div": ("mul",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "zeros_like": ("ones_like",),
    "ones_like": ("zeros_like",),
    "max": ("min",),
    "min": ("max",),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "sum": ("mean",),
    "mean": ("sum",),
    "floor": ("ceil",),
    "ceil": ("floor",),
    "tril": ("triu",),
    "triu": ("tril",),
    "cat": ("stack",),
    "stack": ("cat",),
    "any": ("all",),
    "all": ("any",),
    "eq": ("ne",),
    "ne": ("eq",),
    "lt": ("ge",),
    "ge": ("lt",),
    "gt": ("le",),
    "le": ("gt",),
    "real": ("imag",),
    "imag": ("real",),
    "repeat": ("repeat_interleave",),
    "repeat_interleave": ("repeat",),
    "logical_and": ("logical_or",),
    "logical_or": ("logical_and",),
}
# Towards lower precision only: a higher one changes no verdict that a student could care about.
_LOWER: Final[Mapping[str, tuple[str, ...]]] = {
    "float64": ("float32",),
    "float32": ("bfloat16", "float16"),
    "double": ("float",),
    "float": ("half", "bfloat16"),
    "complex128": ("complex64",),
    "long": ("float",),
    "int64": ("float32", "int8"),
}
# fmt: off
_IN_PLACE: Final = frozenset({
    "abs", "add", "addcmul", "bernoulli", "ceil", "clamp", "copy", "cos", "cumsum", "div",
    "exp", "fill", "floor", "index_add", "index_copy", "index_fill", "log", "masked_fill",
    "mul", "neg", "pow", "reciprocal", "round", "rsqrt", "scatter", "sigmoid", "sin", "sqrt",
    "square", "squeeze", "sub", "t", "tanh", "transpose", "tril", "triu", "unsqueeze",
    "where", "zero"
})
# fmt: on
_BINARY_IN_PLACE: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "add_",
    ast.Sub: "sub_",
    ast.Mult: "mul_",
    ast.Div: "div_",
    ast.Pow: "pow_",
}
_ARITHMETIC: Final = (
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
)
_BITWISE: Final = (ast.BitAnd, ast.BitOr, ast.BitXor)
_COMMUTATIVE: Final = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_COMPARISONS: Final = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OPPOSITES: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_BOUNDED: Final = frozenset({"arange", "range", "linspace"})
# What small inputs do not reach: tables, caches and narrow integers end at such sizes.
SIZE: Final = 512
# Parts of a tensor that its numbers do not decide.
_OUTWARD: Final = frozenset({"shape", "dtype", "device", "ndim"})


# --- numbers and words -----------------------------------------------------------------------


def numbers(node: ast.expr, around: Surroundings) -> Iterator[ast.expr]:
    """One more, one less, 0, doubled, negated; `-1` counts as one number."""
    value = _number(node)
    if value is None or (isinstance(around.parent, ast.UnaryOp) and _number(around.parent)):
        return
    others = [value + 1, value - 1, value * 0, value * 2, -value]
    seen = {value}
    for other in others:
        if other not in seen:
            seen.add(other)
            yield _literal(other)


def truths(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """`True` for `False` and the other way round."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)


def words(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """sin for cos, zeros for ones, and other functions that are taken for each other."""
    yield from _renamed(node, _SWAPPED)
    if isinstance(node, ast.Constant) and node.value in ("ij", "xy"):
        yield ast.Constant("xy" if node.value == "ij" else "ij")


def casts(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """A lower precision; leaving a cast out is among `dropped_calls`."""
    yield from _renamed(node, _LOWER)


def _renamed(node: ast.expr, table: Mapping[str, tuple[str, ...]]) -> Iterator[ast.expr]:
    match node:
        case ast.Attribute(value=value, attr=attr, ctx=ast.Load()):
            for other in table.get(attr, ()):
                yield ast.Attribute(value=value, attr=other, ctx=ast.Load())
        case ast.Name(id=name, ctx=ast.Load()):
            for other in table.get(name, ()):
                yield ast.Name(id=other, ctx=ast.Load())


# --- operators ---------------------------------------------------------------------------------


def arithmetic(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """Every other operator; operands swapped where that matters, or one of them alone."""
    if not isinstance(node, ast.BinOp):
        return
    kind = type(node.op)
    family: tuple[type[ast.operator], ...] = ()
    if kind in _ARITHMETIC:
        family = _ARITHMETIC
    elif kind in _BITWISE:
        family = _BITWISE
    elif kind is ast.MatMult:
        family = (ast.Mult,)
    for other in family:
        if other is not kind:
            yield ast.BinOp(left=node.left, op=other(), right=node.right)
    if kind not in _COMMUTATIVE:
        yield ast.BinOp(left=node.right, op=node.op, right=node.left)
    yield node.left
    yield node.right


def signs(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """`-x`, `~x` and `not x` without their sign."""
    if isinstance(node, ast.UnaryOp) and _number(node) is None:
        yield node.operand


def comparisons(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """Every other comparison, and the opposite of `is` and `in`."""
    if not isinstance(node, ast.Compare):
        return
    for at, op in enumerate(node.ops):
        others: tuple[type[ast.cmpop], ...] = ()
        if isinstance(op, _COMPARISONS):
            others = tuple(each for each in _COMPARISONS if each is not type(op))
        elif type(op) in _OPPOSITES:
            others = (_OPPOSITES[type(op)],)
        for other in others:
            ops = [*node.ops[:at], other(), *node.ops[at + 1 :]]
            yield ast.Compare(left=node.left, ops=ops, comparators=node.comparators)


def logic(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """`and` for `or`, and each operand left out."""
    if not isinstance(node, ast.BoolOp):
        return
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield ast.BoolOp(op=other, values=node.values)
    for at in range(len(node.values)):
        rest = [*node.values[:at], *node.values[at + 1 :]]
        yield rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest)


def conditions(node: ast.expr, around: Surroundings) -> Iterator[ast.expr]:
    """The condition forced to either side, and its opposite.

    A loop is never forced to go on: that mutant would only be killed by its time limit.
    """
    parent = around.parent
    tested = isinstance(parent, ast.If | ast.IfExp | ast.While) and node is parent.test
    if not tested and not (isinstance(parent, ast.comprehension) and node in parent.ifs):
        return
    if not isinstance(parent, ast.While):
        yield ast.Constant(value=True)
        yield ast.UnaryOp(op=ast.Not(), operand=node)
    yield ast.Constant(value=False)


# --- what is given ------------------------------------------------------------------------------


def wraps(node: ast.expr, around: Surroundings) -> Iterator[ast.expr]:
    """A parameter that begins again at 512, as an index into a buffer does."""
    if _is_given(node, around):
        yield ast.BinOp(left=node, op=ast.Mod(), right=ast.Constant(SIZE))


def clamps(node: ast.expr, around: Surroundings) -> Iterator[ast.expr]:
    """A parameter that stops at 512, written so that numbers and tensors take it."""
    if _is_given(node, around):
        size = ast.Constant(SIZE)
        beyond = ast.Compare(left=node, ops=[ast.Gt()], comparators=[size])
        excess = ast.BinOp(left=node, op=ast.Sub(), right=size)
        cut = ast.BinOp(left=beyond, op=ast.Mult(), right=excess)
        yield ast.BinOp(left=node, op=ast.Sub(), right=cut)


def negations(node: ast.expr, around: Surroundings) -> Iterator[ast.expr]:
    """`-x` for `x`."""
    if _is_value(node, around):
        yield ast.UnaryOp(op=ast.USub(), operand=node)


def _is_given(node: ast.expr, around: Surroundings) -> bool:
    return _is_value(node, around) and isinstance(node, ast.Name) and node.id in around.parameters


def _is_value(node: ast.expr, around: Surroundings) -> bool:
    """Whether this is a name that is read for its numbers."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return False
    match around.parent:
        case ast.Attribute(attr=attr) if attr in _OUTWARD:
            return False
        case ast.Call(func=func) if func is node:
            return False
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]) | ast.keyword(arg="device"):
            return False
    return node.id not in around.modules


# --- tensors -------------------------------------------------------------------------------------


def slices(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """`0::2` for `1::2` (also where the 0 is not written), and each bound left out."""
    if not isinstance(node, ast.Slice):
        return
    if node.lower is None:
        yield ast.Slice(lower=ast.Constant(1), upper=node.upper, step=node.step)
    elif _number(node.lower) != 0:
        yield ast.Slice(lower=None, upper=node.upper, step=node.step)
    if node.upper is None:
        yield ast.Slice(lower=node.lower, upper=_literal(-1), step=node.step)
    else:
        yield ast.Slice(lower=node.lower, upper=None, step=node.step)
    if node.step is not None:
        yield ast.Slice(lower=node.lower, upper=node.upper, step=None)
    if node.lower is not None and node.upper is not None:
        yield ast.Slice(lower=node.upper, upper=node.lower, step=node.step)


def bounds(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """`arange`, `range` and `linspace` begin, end or step one off (numbers: see `numbers`)."""
    if not isinstance(node, ast.Call) or _called(node) not in _BOUNDED:
        return
    for at, argument in enumerate(node.args):
        if _number(argument) is not None:
            continue
        for op in (ast.Add(), ast.Sub()):
            moved = ast.BinOp(left=argument, op=op, right=ast.Constant(1))
            yield _with_args(node, [*node.args[:at], moved, *node.args[at + 1 :]])
    if len(node.args) == 1:
        yield _with_args(node, [ast.Constant(1), *node.args])


def in_place(node: ast.expr, around: Surroundings) -> Iterator[ast.expr]:
    """`x.add_(y)` for `x + y`, `x.add(y)` and `torch.add(x, y)`."""
    match node:
        case ast.BinOp(left=ast.Name() | ast.Subscript() as left, op=op, right=right):
            if method := _BINARY_IN_PLACE.get(type(op)):
                yield _method(left, method, [right])
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args, keywords=keywords):
            if attr not in _IN_PLACE:
                return
            if _is_module(value, around):
                if args and isinstance(args[0], ast.Name | ast.Subscript):
                    yield _method(args[0], f"{attr}_", args[1:], keywords)
            else:
                yield _method(value, f"{attr}_", args, keywords)


# --- calls ----------------------------------------------------------------------------------


def dropped_calls(node: ast.expr, around: Surroundings) -> Iterator[ast.expr]:
    """`x` for `x.clone()`, `x.to(dtype)` or `x.flatten(-2)`, and for `torch.cos(x)`."""
    if not isinstance(node, ast.Call):
        return
    func = node.func
    if isinstance(func, ast.Attribute) and not _is_module(func.value, around):
        yield func.value
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]


def arguments(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """Neighbouring arguments swapped, the last one left out, or a keyword.

    `device` is left alone: where there is one device, its argument decides nothing.
    """
    if not isinstance(node, ast.Call):
        return
    for first, second in itertools.pairwise(range(len(node.args))):
        yield _with_args(node, _exchanged(node.args, first, second))
    if len(node.args) > 1:
        yield _with_args(node, node.args[:-1])
    for at, keyword in enumerate(node.keywords):
        if keyword.arg != "device":
            rest = [*node.keywords[:at], *node.keywords[at + 1 :]]
            yield ast.Call(func=node.func, args=node.args, keywords=rest)


def sequences(node: ast.expr, _around: Surroundings) -> Iterator[ast.expr]:
    """Neighbours of a list or tuple swapped, as in `stack((first, second))`."""
    if not isinstance(node, ast.Tuple | ast.List) or not isinstance(node.ctx, ast.Load):
        return
    for first, second in itertools.pairwise(range(len(node.elts))):
        yield type(node)(elts=_exchanged(node.elts, first, second), ctx=ast.Load())


OPERATORS: Final[Mapping[str, Operator]] = {
    "numbers": numbers,
    "truths": truths,
    "words": words,
    "casts": casts,
    "arithmetic": arithmetic,
    "signs": signs,
    "comparisons": comparisons,
    "logic": logic,
    "conditions": conditions,
    "wraps": wraps,
    "clamps": clamps,
    "negations": negations,
    "slices": slices,
    "bounds": bounds,
    "in_place": in_place,
    "dropped_calls": dropped_calls,
    "arguments": arguments,
    "sequences": sequences,
}


# --- nodes ----------------------------------------------------------------------------------


def _number(node: ast.AST) -> int | float | None:
    """The value of a number as people write it, its sign included."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as operand):
            size = _number(operand)
            return None if size is None else -size
        case _:
            return None


def _literal(value: int | float) -> ast.expr:
    if value < 0:
        return ast.UnaryOp(op=ast.USub(), operand=ast.Constant(-value))
    # `-0.0` would be another spelling of the same number.
    return ast.Constant(abs(value))


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _is_module(node: ast.expr, around: Surroundings) -> bool:
    """`torch`, `math`, and dotted names that begin with a module."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in around.modules


def _method(
    value: ast.expr, name: str, args: list[ast.expr], keywords: list[ast.keyword] | None = None
) -> ast.Call:
    func = ast.Attribute(value=value, attr=name, ctx=ast.Load())
    return ast.Call(func=func, args=args, keywords=keywords or [])


def _with_args(node: ast.Call, args: list[ast.expr]) -> ast.Call:
    return ast.Call(func=node.func, args=args, keywords=node.keywords)


def _exchanged(items: list[ast.expr], first: int, second: int) -> list[ast.expr]:
    exchanged = copy.copy(items)
    exchanged[first], exchanged[second] = items[second], items[first]
    return exchanged
