"""Names in zip files that do not say in which encoding they are: what fits the whole archive.

The format knows UTF-8, by a flag, and the IBM PC's code page 437; Windows writes the code page of
the country. One name is too short to tell, all of an archive together are not.
"""

from collections.abc import Sequence
from typing import Final
from zipfile import ZipInfo

_LEAST: Final = 0.5
# Enough to tell; an archive may have two hundred thousand.
_MOST_NAMES: Final = 2000


def encoding_of_members(members: Sequence[ZipInfo]) -> str | None:
    """The encoding of the names that are not marked as UTF-8."""
    return encoding_of([_raw(each) for each in members if not _is_flagged(each)])


def name_of(member: ZipInfo, encoding: str | None) -> str:
    """The member's name as it was meant: hardly any program says how it wrote it."""
    if _is_flagged(member):
        name = member.filename.replace("\\", "/")
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    # Only now: in some encodings a backslash is half of a character.
    return _raw(member).decode(encoding or "cp437", "replace").replace("\\", "/")


def encoding_of(names: Sequence[bytes]) -> str | None:
    """The encoding of an archive's names, or None where none gives text that people write."""
    foreign = [each for each in names if not each.isascii()]
    if not foreign or all(_decodes(each, "utf-8") for each in foreign):
        return "utf-8"
    some = foreign[:_MOST_NAMES]
    scores = {
        encoding: _plausibility(some, encoding)
        for encoding in ("gb18030", "cp932", "cp437")
        if all(_decodes(each, encoding) for each in foreign)
    }
    best = max(scores, key=lambda each: scores[each], default=None)
    return best if best is not None and scores[best] >= _LEAST else None


def _decodes(name: bytes, encoding: str) -> bool:
    try:
        name.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _plausibility(names: Sequence[bytes], encoding: str) -> float:
    """From 0 to 1: how common the characters are that the bytes would stand for."""
    weights = [
        _weight(char, before, encoding)
        for text in (each.decode(encoding) for each in names)
        for before, char in zip(f" {text}", text, strict=False)
        if not char.isascii()
    ]
    return sum(weights) / len(weights) if weights else 0.0


def _weight(char: str, before: str, encoding: str) -> float:
    if encoding == "cp437":
        # `Müller`, `José`: single letters between plain ones; what stands in a row is none.
        single = before.isascii() or before.isalpha()
        return 0.95 if "À" <= char <= "ÿ" and char.isalpha() and single else 0.0
    if encoding == "cp932":
        if "\u3040" <= char <= "\u30ff":
            return 1.0
        return (
            _level(char, "shift_jis", 0x88, 0x97) if "\u4e00" <= char <= "\u9fff" else _mark(char)
        )
    if "\u4e00" <= char <= "\u9fff":
        return _level(char, "gb2312", 0xB0, 0xD7)
    return 0.3 if "\u3040" <= char <= "\u30ff" else _mark(char)


def _level(char: str, encoding: str, first: int, last: int) -> float:
    """Of a Chinese character: in the first level of the standard are those that are in use."""
    try:
        lead = char.encode(encoding)[0]
    except UnicodeEncodeError:
        return 0.1
    return 1.0 if first <= lead <= last else 0.6


def _mark(char: str) -> float:
    """Full-width marks and letters are common in either; half-width katakana are not."""
    return 0.7 if "\uff01" <= char <= "\uff5e" or "\u3000" <= char <= "\u3011" else 0.05


def _is_flagged(member: ZipInfo) -> bool:
    """Whether the name is marked as UTF-8."""
    return bool(member.flag_bits & 0x800)


def _raw(member: ZipInfo) -> bytes:
    # `orig_filename`: `filename` has its backslashes turned on Windows.
    return member.orig_filename.partition("\0")[0].encode("cp437", "replace")
