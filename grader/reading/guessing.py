"""In which encoding bytes without a (true) declaration were probably written.

The code of a script is ASCII, so a wrong guess costs a comment, never a function. A guess is
still made by what reads like writing: nearly any bytes are valid GB18030, and all are Latin-1.
"""

import re
from collections.abc import Callable

# Enough to know a language by; the whole text must be valid in any case.
_SAMPLE = 20_000
_LEAST = 0.6

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_WESTERN_MARKS = frozenset("“”‘’–—…€°±²³·×÷µ«»§©®¿¡ªº¼½¾™†•")


def fitting(content: bytes) -> tuple[str, str] | None:
    """The encoding's name and the text, where one is valid and reads like writing."""
    best: tuple[str, str] | None = None
    most = _LEAST
    for encoding, familiar in _CANDIDATES:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        share = _share(text[:_SAMPLE], familiar)
        # Only a better one replaces an earlier one: short texts fit several.
        if share > most:
            best, most = (encoding.upper(), text), share
    return best


def utf16_without_mark(content: bytes) -> tuple[str, str] | None:
    """The same for UTF-16 whose byte order mark is missing: ASCII code shows by its zeros."""
    half = len(content) / 2
    low, high = content[1::2].count(0), content[0::2].count(0)
    if max(low, high) <= 0.6 * half:
        return None
    encoding = "UTF-16-LE" if low > high else "UTF-16-BE"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else (encoding, text)


def _share(text: str, familiar: Callable[[str], float]) -> float:
    """How much of what is not ASCII is common in the encoding's languages, 0 to 1."""
    runs = _NOT_ASCII.findall(text)
    count = sum(len(run) for run in runs)
    return sum(familiar(run) for run in runs) / count if count else 0.0


def _chinese(run: str) -> float:
    return sum(_gb2312(char) for char in run)


def _gb2312(char: str) -> float:
    try:
        lead = char.encode("gb2312")[0]
    except UnicodeEncodeError:
        return 0.0
    # Rows 1 to 3: punctuation, numbers, full-width ASCII; 16 to 55: the common characters.
    if lead <= 0xA3 or 0xB0 <= lead <= 0xD7:
        return 1.0
    return 0.5 if lead > 0xD7 else 0.0


def _traditional(run: str) -> float:
    leads = (char.encode("big5", "ignore")[:1] for char in run)
    return sum(1.0 if b"\xa1" <= lead <= b"\xc6" else 0.3 if lead else 0.0 for lead in leads)


def _japanese(run: str) -> float:
    kana = any("\u3041" <= char <= "\u30ff" for char in run)
    # Half-width katakana are single bytes, which fit anything; no kana at all may be Chinese.
    kanji = 1.0 if kana else 0.8
    plain = [char for char in run if "\u3000" <= char <= "\u30ff" or "\uff01" <= char <= "\uff5e"]
    return len(plain) + kanji * sum("\u4e00" <= char <= "\u9fff" for char in run)


def _western(run: str) -> float:
    # Accented letters stand among plain ones; long runs are some other alphabet.
    if len(run) > 2:
        return 0.0
    return sum(1.0 for char in run if "\xc0" <= char <= "\xff" or char in _WESTERN_MARKS)


def _cyrillic(run: str) -> float:
    return sum(1.0 for char in run if "\u0410" <= char <= "\u044f" or char in "ёЁ«»—№")


_CANDIDATES: tuple[tuple[str, Callable[[str], float]], ...] = (
    ("gb18030", _chinese),
    ("euc_jp", _japanese),
    ("big5", _traditional),
    ("shift_jis", _japanese),
    ("cp1252", _western),
    ("cp1251", _cyrillic),
)
