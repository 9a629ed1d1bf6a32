"""Words of a worker, made harmless to print and to store.

What a submission prints or raises is a claim: it may hold terminal escapes, text that runs
backwards, memory addresses that differ from run to run, or a million characters.
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


def clean(text: str, limit: int = 2000) -> str:
    """The claim as it may be shown: controls escaped, addresses masked, at most `limit` characters.

    `\\n` and `\\t` stay, `\\r\\n` becomes `\\n`, a lone surrogate becomes U+FFFD. Of a text that is
    too long the head and the tail are kept. Cleaning twice changes nothing more.
    """
    text = _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n"))
    text = _ADDRESS.sub("0x…", _ESCAPED.sub(_escape, text))
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """Head and tail of a text that is longer than `limit` characters, two thirds and one third."""
    if len(text) <= limit:
        return text
    room = limit - len(_CUT)
    if room < 3:
        return text[:limit]
    tail = room // 3
    return text[: room - tail] + _CUT + text[-tail:]


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
