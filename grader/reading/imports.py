"""Which libraries a file asks for: what its code imports, the standard modules left out."""

import ast
import sys
from collections.abc import Iterable, Iterator

from grader.reading.blocks import never_runs


def imports(trees: Iterable[ast.Module]) -> tuple[str, ...]:
    """The top-level modules in the order of the text, wherever the imports stand.

    What stands under `if __name__ == "__main__":` is not run while a file is graded, and does
    not count.
    """
    found = (name for tree in trees for statement in tree.body for name in _named(statement))
    return tuple(dict.fromkeys(name for name in found if name not in sys.stdlib_module_names))


def _named(statement: ast.stmt) -> Iterator[str]:
    parts: list[ast.stmt] = [statement]
    if isinstance(statement, ast.If) and never_runs(statement.test):
        parts = statement.orelse
    for node in (node for part in parts for node in ast.walk(part)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
