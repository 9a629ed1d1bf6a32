"""English or Chinese: the option, else GRADE_LANG, else what the computer speaks."""

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from grader.model import Language

_CHINESE: Final = 0x04  # LANG_CHINESE, the low ten bits of a Windows language id


def choose(arguments: Sequence[str], environ: Mapping[str, str], *, encoding: str) -> Language:
    """The language to speak, before the command line is parsed.

    Args:
        arguments: what was typed after `grade`; the parser judges later whether it is valid.
        encoding: what the terminal can show. A Chinese computer with a console that has no
            Chinese characters is spoken to in English, unless Chinese was asked for.
    """
    asked = _named(_typed(arguments)) or _named(environ.get("GRADE_LANG", ""))
    if asked:
        return asked
    return "zh" if _speaks_chinese(environ) and _can_show_chinese(encoding) else "en"


def _typed(arguments: Sequence[str]) -> str:
    typed = ""
    for word, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if word == "--":
            break
        if word == "--lang":
            typed = following
        elif word.startswith("--lang="):
            typed = word.removeprefix("--lang=")
    return typed


def _named(value: str) -> Language | None:
    """`zh_CN.UTF-8` and `ZH` are Chinese, `en` and `en_US` English, the rest nothing."""
    match value.strip().lower()[:2]:
        case "zh":
            return "zh"
        case "en":
            return "en"
    return None


def _speaks_chinese(environ: Mapping[str, str]) -> bool:
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(variable):
            return _named(environ[variable]) == "zh"
    return sys.platform == "win32" and _windows_language() & 0x3FF == _CHINESE


def _windows_language() -> int:
    if sys.platform != "win32":
        return 0
    import ctypes

    return int(ctypes.windll.kernel32.GetUserDefaultUILanguage())


def _can_show_chinese(encoding: str) -> bool:
    try:
        "评分，第一次……".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
