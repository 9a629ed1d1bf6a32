"""Names of files and people as they may be shown and stored, whatever somebody put into them."""

import re

# What a name holds and nobody sees, or what moves text about: controls, line ends, directions of
# writing, marks without width, characters of private use, bytes that are no text. The two joiners
# (U+200C, U+200D) stay: Persian and Indian names are written with them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\ue000-\uf8ff"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


def visible(text: str) -> str:
    """The name on one line; what cannot be seen is written out as its bytes: `%0A`, `%FF`.

    Different names stay different. A name that is shown already comes back as it is.
    """
    return _UNSEEN.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    if "\udc80" <= found[0] <= "\udcff":
        # Python's own stand-in for a byte of a file's name that is no UTF-8.
        return f"%{ord(found[0]) - 0xDC00:02X}"
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))
