"""Words of a worker, made harmless to print and to store.

What a submission prints or raises is a claim: it may hold terminal escapes, text that runs
backwards, memory addresses and names of folders that differ from run to run, or a million
characters.
"""

import re

_ESCAPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1 controls but \t and \n; ESC begins ANSI escapes
    "\xad\u200b\u2060-\u2064\ufeff\ufff9-\ufffb"  # invisible characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # bidirectional controls
    "\u2028\u2029"  # line ends that only some programs know
    "\U000e0000-\U000e007f]"  # tags
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# Three digits and fewer are numbers that people write (0xff), not addresses.
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{4,}")
_CUT = " … "
# The grader's private folders, where a submission is run: all of a random name, or what was left of
# it when the text was cut. Not a fixed folder instead: there is none that every machine has, that
# nothing else lies in, and that two gradings at once could share.
_FOLDER = re.compile(
    rf"(?<=torchgrade-)(?:[a-z0-9_]{{8,}}|[a-z0-9_]{{1,7}}(?={re.escape(_CUT)}|$(?!\n)))"
)
# What the `tempfile` of a submission makes below them.
_TEMPORARY = re.compile(r"(?<=torchgrade-x{8})([/\\](?:[^\s'\"]{0,200}?[/\\])?tmp)([a-z0-9_]{1,8})")


def clean(text: str, limit: int = 2000) -> str:
    """The claim as it may be shown: controls escaped, what is random masked, `limit` characters.

    Addresses and names of private folders are masked, the latter at equal length, so that whatever
    was laid out around them stays as it was. `\\n` and `\\t` stay, `\\r\\n` becomes `\\n`, a lone
    surrogate becomes U+FFFD. Of a text that is too long the head and the tail are kept. Cleaning
    twice changes nothing more.
    """
    text = _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n"))
    text = _mask_folders(_ADDRESS.sub("0x…", _ESCAPED.sub(_escape, text)))
    # Once more: a cut leaves beginnings of names.
    return _mask_folders(cut(text, limit))


def cut(text: str, limit: int) -> str:
    """Head and tail of a text that is longer than `limit` characters, two thirds and one third."""
    if len(text) <= limit:
        return text
    room = limit - len(_CUT)
    if room < 3:
        return text[:limit]
    tail = room // 3
    return text[: room - tail] + _CUT + text[-tail:]


def _mask_folders(text: str) -> str:
    if "torchgrade-" not in text:
        return text
    text = _FOLDER.sub(lambda found: "x" * len(found[0]), text)
    return _TEMPORARY.sub(lambda found: found[1] + "x" * len(found[2]), text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
