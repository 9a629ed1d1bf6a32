"""Files written whole or not at all, and JSON read as it really arrives."""

import contextlib
import json
import os
import secrets
from collections import Counter
from pathlib import Path

from grader.errors import UsageProblem
from grader.model import Json, Text
from grader.texts import catalog
from grader.texts.reasons import why

# Reports and run records need 10 levels. What reads them afterwards recurses, too, and some
# hundreds of levels more would end in its RecursionError instead of a sentence about the file.
_MOST_LEVELS = 100
_DRAFT, _DRAFT_END = ".torchgrade-", ".tmp"
_SYNTAX = {
    "Expecting value": "value",
    "Expecting property name": "key",
    "Expecting ','": "comma",
    "Expecting ':'": "colon",
    "Illegal trailing comma": "comma_too_many",
    "Unterminated string": "string",
    "Invalid control character": "control",
    "Invalid \\": "escape",
    "Extra data": "more",
}


def replace_file(path: Path, content: bytes) -> None:
    """Put a file at `path`; whoever looks sees the old content or the new, never a part.

    Raises:
        UsageProblem: the file cannot be written there.
    """
    try:
        if path.exists() and not path.is_file():
            # A pipe or /dev/stdout is written to: renaming would put a file in its place.
            path.write_bytes(content)
        else:
            _rename_into(path.resolve(), content)
    except OSError as error:
        raise _problem("cannot_write", path, reason=why(error)) from error


def _rename_into(path: Path, content: bytes) -> None:
    # In the same folder, because a rename is atomic only within one file system; a name of its
    # own, because `path.name` may already be as long as names can be.
    draft = path.parent / f"{_DRAFT}{secrets.token_hex(8)}{_DRAFT_END}"
    try:
        # Not tempfile: its files are readable by their owner only.
        with draft.open("xb") as file:
            file.write(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def remove_drafts(folder: Path, *, levels: int) -> None:
    """Remove what processes left that were killed while they wrote into `folder`.

    Args:
        levels: how many levels of folders below it are looked into. Nobody may be writing there.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for each in found:
            if each.is_dir(follow_symlinks=False):
                if levels:
                    remove_drafts(Path(each.path), levels=levels - 1)
            elif each.name.startswith(_DRAFT) and each.name.endswith(_DRAFT_END):
                Path(each.path).unlink(missing_ok=True)


def read_json(path: Path) -> Json:
    """The JSON in a file: UTF-8 with or without BOM, UTF-16 or UTF-32 (PowerShell's `>`).

    Raises:
        UsageProblem: naming the file and the place where it stops being JSON.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise _problem("cannot_read", path, reason=why(error)) from error
    try:
        text = raw.decode(json.detect_encoding(raw)).removeprefix("\ufeff")
        parsed: Json = json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        at = {"line": error.lineno, "column": error.colno}
        raise _problem("not_json_at", path, **at, reason=_syntax(error.msg)) from error
    except UnicodeDecodeError as error:
        encoding = error.encoding.upper()
        raise _problem("not_text", path, byte=error.start + 1, encoding=encoding) from error
    except RecursionError as error:
        raise _problem("too_deep", path) from error
    except ValueError as error:
        raise _problem("not_json", path, reason=error.args[0]) from error
    if _levels_exceed(parsed, _MOST_LEVELS):
        raise _problem("too_deep", path)
    return parsed


def _syntax(words: str) -> Text:
    """What Python's reader of JSON says, with the same in Chinese where it is known."""
    code = next((code for start, code in _SYNTAX.items() if words.startswith(start)), "other")
    return Text(code=f"json.{code}", en=words, zh=catalog.say("zh", f"json.{code}"))


def _problem(code: str, path: Path, **args: catalog.Filling) -> UsageProblem:
    return UsageProblem(catalog.text(f"file.{code}", file=str(path), **args))


def _levels_exceed(parsed: Json, most: int) -> bool:
    """Whether lists and objects are nested deeper than `most` (without recursion)."""
    level: list[Json] = [parsed]
    for _ in range(most + 1):
        nested = [each for each in level if isinstance(each, dict | list)]
        if not nested:
            return False
        level = []
        for each in nested:
            level += each.values() if isinstance(each, dict) else each
    return True


def _refuse(constant: str) -> Json:
    raise ValueError(catalog.text("file.no_number", constant=constant))


def _once(pairs: list[tuple[str, Json]]) -> Json:
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(catalog.text("file.key_twice", key=json.dumps(twice)))
    return table
