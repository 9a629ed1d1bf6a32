"""A notebook without its outputs and attachments, as bytes.

Fifteen megabytes of plots are normal, and nothing of them is graded. They are cut out before
the JSON is parsed: base64 and tables as Python objects take several times their size, and
everything that later handles the submission would carry them along.
"""

import re

# One token a string or bracket. Possessive, so that a string of megabytes is one quick step; the
# end closes a string, too, or a file that was cut off would be searched once for each quote.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\]]', re.S)
_OPENS = re.compile(rb"\s*:\s*[{\[]")
_DROPPED = frozenset({b'"outputs"', b'"attachments"', b'"widgets"'})
# Far more than real outputs have (each line of a table is one). It bounds the time.
_MOST_TOKENS = 4_000_000


def slim(content: bytes) -> bytes:
    """The notebook with empty outputs, attachments and states of widgets.

    What is not balanced, or has too many parts to be looked through, comes back as it is.
    """
    kept: list[bytes] = []
    depth, start, outside = 0, 0, 0
    dropping = False
    for number, token in enumerate(_TOKEN.finditer(content)):
        held = token[0]
        if held in _DROPPED and not dropping and _OPENS.match(content, token.end()):
            dropping, outside = True, depth
        elif held in (b"{", b"["):
            if dropping and depth == outside:
                kept.append(content[start : token.end()])
            depth += 1
        elif held in (b"}", b"]"):
            depth -= 1
            if dropping and depth == outside:
                start, dropping = token.start(), False
        if number > _MOST_TOKENS:
            return content
    return content if depth or dropping else b"".join([*kept, content[start:]])
