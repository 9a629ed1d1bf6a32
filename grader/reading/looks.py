"""What a text is by its looks, whatever the file's ending says."""

import ast
import re

from grader.reading.parsing import parse

_TELLING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_CODE_LINE = re.compile(r"^(?:(?:async )?def \w+|class \w+|import \w|from [\w.]+ import )", re.M)


def is_script(text: str) -> bool:
    """Whether a text is certainly Python: it compiles, and no prose or JSON would do so."""
    if text.lstrip()[:1] in "{[":
        return False
    tree = parse(text)
    return isinstance(tree, ast.Module) and any(isinstance(each, _TELLING) for each in tree.body)


def looks_like_script(text: str) -> bool:
    """Whether a text was meant as Python, even if Python refuses it."""
    return text.lstrip()[:1] not in "{[" and _CODE_LINE.search(text) is not None


def looks_like_notebook(text: str) -> bool:
    """Whether a damaged notebook was saved as `.py`; a whole one is read as a notebook."""
    held = '"cells"' in text or '"worksheets"' in text
    return text.lstrip().startswith("{") and '"nbformat"' in text and held
