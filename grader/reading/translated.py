"""Magics that do something which later cells need, as Python of one line."""

import re
import shlex

_RUN = re.compile(r"%?run\s+(?P<options>(?:-i\s+)*)(?P<path>\S+)\s*")
_ENVIRONMENT = re.compile(r"%(?:env|set_env)\s+(?P<name>[A-Za-z_]\w*)(?:\s*=\s*|\s+)(?P<value>.+)")
_WRITEFILE = re.compile(r"\s*%%(?:writefile|file)\s+(?P<append>-a\s+|--append\s+)?(?P<path>.+)")
# `{name}` and `$name` stand for values that only the running notebook knows.
_FILLED_IN = re.compile(r"[{}$]")


def line_magic(code: str) -> str | None:
    """The Python of `%run FILE` and `%env NAME=VALUE`; None for what does nothing here."""
    running = _RUN.fullmatch(code)
    if running:
        path = _path(running["path"])
        return None if path is None else _execution(path)
    setting = _ENVIRONMENT.fullmatch(code)
    if setting and not _FILLED_IN.search(setting["value"]):
        return f'__import__("os").environ[{setting["name"]!r}] = {setting["value"].strip()!r}'
    return None


def written_file(line: str, body: str) -> str | None:
    """The Python of a cell `%%writefile FILE`, which writes its body; None for another cell."""
    found = _WRITEFILE.fullmatch(line)
    path = _path(found["path"]) if found else None
    if found is None or path is None:
        return None
    text = body if body.endswith("\n") else f"{body}\n"
    if found["append"]:
        return f'with open({path!r}, "a", encoding="utf-8") as _file: _file.write({text!r})'
    return f'__import__("pathlib").Path({path!r}).write_text({text!r}, encoding="utf-8")'


def _path(typed: str) -> str | None:
    try:
        words = shlex.split(typed)
    except ValueError:
        return None
    if len(words) != 1 or _FILLED_IN.search(typed) or words[0].startswith(("~", "-")):
        return None
    return words[0]


def _execution(path: str) -> str | None:
    """As `%run` does: a file's names become the notebook's. Other notebooks are not run."""
    if path.lower().endswith(".ipynb"):
        return None
    file = path if path.lower().endswith(".py") else f"{path}.py"
    text = f'__import__("pathlib").Path({file!r}).read_text(encoding="utf-8")'
    return f'exec(compile({text}, {file!r}, "exec"), globals())'
