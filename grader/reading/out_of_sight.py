"""Names that are bound where no `def` or `=` shows it; what is uncertain is left to the run."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator

from grader.reading.magics import runs_body

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Decorators after which a function computes what it computed before.
_PASSES_THROUGH = frozenset(
    {"beartype", "cache", "compile", "enable_grad", "final", "inference_mode", "jaxtyped", "jit"}
    | {"lru_cache", "njit", "no_grad", "override", "script", "staticmethod", "typechecked"}
    | {"vectorize", "wraps"}
)
# No course's functions come from these.
_LIBRARIES = sys.stdlib_module_names | {
    *("IPython", "PIL", "einops", "jax", "matplotlib", "numpy", "pandas", "pylab", "scipy"),
    *("seaborn", "sklearn", "sympy", "tensorflow", "torch", "torchvision", "tqdm", "transformers"),
}
_HIDING = re.compile(
    r"\b(?:exec|get_ipython|global|globals|locals|modules|run|setattr|vars|__dict__)\b"
    r"|\bimport\s*\*|:=|\bcompile\b"
)
_NAMESPACES = frozenset({"globals", "locals", "vars"})


def may_hide_names(lines: Iterable[str]) -> bool:
    """Whether `bound_out_of_sight` can find anything: looking costs more than all else."""
    return any(map(_HIDING.search, lines))


def passes_through(decorator: ast.expr) -> bool:
    """Whether a decorator certainly leaves the function's results alone."""
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    match made:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in _PASSES_THROUGH
        case _:
            return False


def shell_code(call: ast.Call) -> str | None:
    """The Python in `get_ipython().run_cell_magic("time", "", code)` or `.run_cell(code)`."""
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython")), attr=method),
            args=arguments,
        ):
            texts = [each.value for each in arguments if isinstance(each, ast.Constant)]
        case _:
            return None
    match method, texts:
        case "run_cell_magic", [str(magic), _, str(code)] if runs_body(magic):
            return code
        case "run_line_magic", ["time", str(code)]:
            return code
        case "run_cell" | "ex", [str(code), *_]:
            return code
        case _:
            return None


def bound_out_of_sight(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement may bind at top level from within; `*` stands for any name."""
    if isinstance(statement, ast.ImportFrom):
        names = [alias.name for alias in statement.names]
        package = (statement.module or "").partition(".")[0]
        if "*" in names and (statement.level or package not in _LIBRARIES):
            yield "*"
        return
    local = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    for node in ast.walk(statement):
        match node:
            case ast.NamedExpr(target=ast.Name(id=name)) if not local:
                yield name
            case ast.Global(names=names):
                yield from names
            case ast.Subscript(value=space, slice=key, ctx=ast.Store()) if _is_namespace(space):
                constant = key.value if isinstance(key, ast.Constant) else None
                yield constant if isinstance(constant, str) else "*"
            case ast.Attribute(value=ast.Subscript(), attr=name, ctx=ast.Store()):
                # `sys.modules[__name__].apply_rope = …`
                if _mentions(node.value, "modules"):
                    yield name
            case ast.Call():
                yield from _by_call(node)
            case _:
                pass


def _by_call(call: ast.Call) -> Iterator[str]:
    match call:
        case ast.Call(func=ast.Name(id="exec"), args=[ast.Constant(value=str(code)), *_]):
            yield from _defined_in(code)
        case ast.Call(func=ast.Name(id="exec")):
            yield "*"
        case ast.Call(func=ast.Name(id="eval"), args=[ast.Call(), *_]):
            yield "*"
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self" | "cls"), *_]):
            pass
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), _]):
            yield name
        case ast.Call(func=ast.Attribute(value=space, attr="update" | "setdefault")):
            if _is_namespace(space):
                yield "*"
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Name(id="get_ipython")),
                attr="run_line_magic" | "magic" | "run_code" | "safe_execfile" | "push",
            ),
            args=arguments,
        ):
            first = arguments[0] if arguments else None
            if not isinstance(first, ast.Constant) or str(first.value).startswith("run"):
                yield "*"
        case _:
            pass


def _defined_in(code: str) -> Iterator[str]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in tree.body:
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (each.id for each in statement.targets if isinstance(each, ast.Name))


def _is_namespace(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name)):
            return name in _NAMESPACES
        case ast.Attribute(attr="__dict__"):
            return True
        case _:
            return False


def _mentions(value: ast.expr, attribute: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == attribute for n in ast.walk(value))
