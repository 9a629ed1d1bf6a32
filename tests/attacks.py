"""Uploads that are after the class: what reads them, what unpacks them, what runs them.

Each attack is what one student hands in, as files in a folder. A table says what it does, and which
statuses its student may get: more than one where it depends on the machine which limit is met
first.
"""

import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

GALLERY: Final = Path(__file__).resolve().parent / "hostile"
HEAD: Final = "def add_position_vectors(token_vectors, position_vectors):\n"
RIGHT: Final = f"{HEAD}    return token_vectors + position_vectors\n"
WRONG: Final = f"{HEAD}    return token_vectors\n"
# What the victim's file or folder is called; the attacks that claim to be another's name it.
VICTIM: Final = "alice"

# The statuses in `scores.csv`.
RUN: Final = frozenset({"graded"})
NOT_READ: Final = frozenset({"unreadable"})
NOTHING: Final = frozenset({"no_source"})
EITHER: Final = RUN | NOT_READ


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What one student hands in.

    Args:
        about: what it is after.
        write: puts the files into an empty folder, which is the student's.
        status: one of them must be the student's in the end.
        flat: no more than files with plain names, so that every platform can hold it.
    """

    about: str
    write: Callable[[Path], None]
    status: frozenset[str]
    flat: bool = True


# --- ways to write an upload -------------------------------------------------------------------


def _file(name: str, content: str | bytes | Callable[[], str | bytes]) -> Callable[[Path], None]:
    """One file."""

    def write(folder: Path) -> None:
        made = content() if callable(content) else content
        (folder / name).write_bytes(made.encode() if isinstance(made, str) else made)

    return write


def _hostile(name: str) -> Callable[[Path], None]:
    """A submission of `tests/hostile`."""
    return _file("hw1.py", lambda: (GALLERY / f"{name}.py").read_bytes())


def _notebook(*sources: str, **more: object) -> str:
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"c{at}",
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for at, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more})


def zipped(files: Mapping[str, str | bytes], *, stored: bool = False) -> bytes:
    """A zip file with these members."""
    made = io.BytesIO()
    how = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(made, "w", how) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


# --- what is slow or large to read -------------------------------------------------------------


def _html_comments() -> str:
    # A pattern that may end a comment in many places tries all of them, and their combinations.
    return "<!--" + "--><!--" * 500 + "x"


def _html_blanks() -> str:
    return " " * 4000 + "<!--" + "-->\n<!-- " * 400 + "<"


def _folded_tuples() -> str:
    # Each line is small; what a compiler makes of it beforehand is not.
    return RIGHT + "".join(f'a{at} = ("{at:04}" * 1024,) * 256\n' for at in range(4000))


def _folded_format() -> str:
    return RIGHT + '"%1000000000d" % (1,)\nx = "%1000000000d" % 1\n'


def _folded_powers() -> str:
    return RIGHT + "".join(f"b{at} = ({at} + 2) ** 60000 * 3 ** 60000\n" for at in range(2000))


def _many_targets() -> str:
    targets = " = ".join(f"t{at}" for at in range(20_000))
    return RIGHT + f"{targets} = [{', '.join('[]' for _ in range(20_000))}]\n"


def _deep_json() -> str:
    return '{"cells": ' + "[" * 200_000 + "]" * 200_000 + ', "nbformat": 4}'


def _raising_cells() -> str:
    return _notebook(*["1 / 0"] * 45_000, RIGHT)


def _one_line() -> str:
    return RIGHT + "x = [" + "'a', " * 1_500_000 + "]\n"


def _many_tokens() -> str:
    return RIGHT + "x = 1 + 1\n" * 66_000


def _nested_brackets() -> str:
    return RIGHT + "x = " + "(" * 90_000 + ")" * 90_000 + "\n"


def _long_sum() -> str:
    return RIGHT + "x = " + "+".join("1" * 1 for _ in range(95_000)) + "\n"


def _surrogates() -> str:
    return _notebook("x = '\\ud800'", RIGHT).replace("\\\\ud800", "\\ud800")


def _punycode() -> bytes:
    return b"# coding: punycode\n" + RIGHT.encode() + b"# " + b"a-" * 400_000 + b"\n"


def _signs() -> str:
    return RIGHT + "x = " + "-" * 90_000 + "1\n"


def _attributes() -> str:
    return RIGHT + "def late(x):\n    return x" + ".y" * 90_000 + "\n"


# --- zip files ---------------------------------------------------------------------------------


def _many_entries() -> bytes:
    """A directory of 1.7 MB: many members without anything in them."""
    return zipped({"hw1.py": RIGHT, **{f"{at:x}.py": b"" for at in range(21_000)}}, stored=True)


def _long_names() -> bytes:
    long = "n" * 60_000
    return zipped({"hw1.py": RIGHT, **{f"{at}{long}.py": b"" for at in range(100)}})


def _long_paths() -> bytes:
    deep = "d/" * 30_000
    return zipped({"hw1.py": RIGHT, **{f"{at}/{deep}x.py": RIGHT for at in range(20)}})


def _fifty_attempts() -> bytes:
    """Fifty files of which each may be the work, and each is slow."""
    slow = (GALLERY / "endless_loop.py").read_text("utf-8")
    return zipped({f"hw1 ({at}).py": f"{slow}# {at}\n" for at in range(1, 51)})


def _overlapping() -> bytes:
    """A hundred members that share one body, which is most of the file."""
    body = zlib.compress(RIGHT.encode() + b"#" * 9_000_000, 9)[2:-4]
    crc = zlib.crc32(RIGHT.encode() + b"#" * 9_000_000)
    size = len(RIGHT) + 9_000_000
    parts, directory = [], []
    name = b"hw1.py"
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, crc, len(body), size, len(name), 0)
    parts = [local, name, body]
    for at in range(100):
        own = b"hw1 (%d).py" % at
        directory.append(
            struct.pack(
                "<4s6H3L5H2L",
                b"PK\1\2", 20, 20, 0, 8, 0, 0, crc, len(body), size, len(own), 0, 0, 0, 0, 0, 0,
            )
            + own
        )  # fmt: skip
    head, tail = b"".join(parts), b"".join(directory)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 100, 100, len(tail), len(head), 0)
    return head + tail + end


def _nested_bomb() -> bytes:
    """Zip files in zip files, ten in each."""
    inner = zipped({"hw1.py": b"#" * 10_000_000})
    for _ in range(4):
        inner = zipped({f"{at}.zip": inner for at in range(10)})
    return inner


def _ratio_bomb() -> bytes:
    return zipped({"hw1.py": RIGHT.encode() + b"#" * 1_000_000_000})


def _claims() -> bytes:
    """Says that it is somebody else's, in every way that a platform would."""
    metadata = (
        "submission_1:\n  :created_at: 2030-01-01 00:00:00 Z\n  :submitters:\n"
        f"  - :sid: {VICTIM}\n    :name: {VICTIM}\n"
    )
    return zipped(
        {
            "submission_metadata.yml": metadata,
            f"submission_1/{VICTIM}_hw1.py": WRONG,
            f"submitted/{VICTIM}/hw1/hw1.py": WRONG,
            f"submitted/{VICTIM}/hw1/timestamp.txt": "2030-01-01 00:00:00 UTC",
            f"{VICTIM}_10001_990001_hw1.py": WRONG,
        }
    )


def _undecodable_names() -> bytes:
    """Names that are marked as UTF-8 and are none; half a surrogate pair among them."""
    content = zipped({"hw1.py": RIGHT, "XXXé.py": RIGHT})
    return content.replace("XXXé".encode(), b"X\xed\xa0\x80\xff")


def _backslashes() -> bytes:
    return zipped({"\\\\server\\share\\hw1.py": RIGHT, "..\\..\\up.py": RIGHT, "\\hw1.py": WRONG})


# --- folders -----------------------------------------------------------------------------------


def _nested_folders(folder: Path) -> None:
    """1,500 folders in each other: deeper than a path may be long, and than Python's stack."""
    (folder / "hw1.py").write_text(RIGHT, "utf-8")
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deeper", dir_fd=here)
        inside = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inside
    os.close(here)


def _links(folder: Path) -> None:
    (folder / "hw1.py").symlink_to("/etc/passwd")
    (folder / "all").symlink_to("/")
    (folder / "round").symlink_to(folder.parent, target_is_directory=True)


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "hw1.py")
    os.mkfifo(folder / "more.zip")


def _no_utf8(folder: Path) -> None:
    for name in (b"\xff\xfe hw1.py", b"\xed\xa0\x80.py"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(WRONG, "utf-8")


def _steering(folder: Path) -> None:
    name = "\x1b]0;owned\x07\x1b[2J\u202egp.1wh\n\r10,10.py"
    (folder / name).write_text(RIGHT, "utf-8")


def _timestamp(text: str) -> Callable[[Path], None]:
    """Work with a date that nbgrader would have written there."""

    def write(folder: Path) -> None:
        (folder / "hw1.py").write_text(RIGHT, "utf-8")
        (folder / "timestamp.txt").write_text(text, "utf-8")

    return write


def _late_dates() -> str:
    return "2026-01-01 00:00 " + "A/" * 40 + "A-" * 30 + "!"


ATTACKS: Final[Mapping[str, Attack]] = {
    "html_comments": Attack(
        about="time: a page of comments", write=_file("hw1.py", _html_comments), status=EITHER
    ),
    "html_blanks": Attack(
        about="time: a page of blanks", write=_file("hw1.py", _html_blanks), status=EITHER
    ),
    "folded_tuples": Attack(
        about="memory: constants of 4 GB", write=_file("hw1.py", _folded_tuples), status=EITHER
    ),
    "folded_format": Attack(
        about="memory: a width of a gigabyte", write=_file("hw1.py", _folded_format), status=EITHER
    ),
    "folded_powers": Attack(
        about="time: numbers of 60,000 digits", write=_file("hw1.py", _folded_powers), status=EITHER
    ),
    "many_targets": Attack(
        about="time: one value for 20,000 names",
        write=_file("hw1.py", _many_targets),
        status=EITHER,
    ),
    "deep_json": Attack(
        about="recursion: lists in lists", write=_file("hw1.ipynb", _deep_json), status=NOT_READ
    ),
    "raising_cells": Attack(
        about="time: 45,000 cells that raise",
        write=_file("hw1.ipynb", _raising_cells),
        status=EITHER,
    ),
    "one_line": Attack(
        about="time: a line of nine megabytes", write=_file("hw1.py", _one_line), status=EITHER
    ),
    "many_tokens": Attack(
        about="memory: 200,000 tokens", write=_file("hw1.py", _many_tokens), status=EITHER
    ),
    "nested_brackets": Attack(
        about="the parser's stack", write=_file("hw1.py", _nested_brackets), status=EITHER
    ),
    "long_sum": Attack(
        about="the compiler's stack", write=_file("hw1.py", _long_sum), status=EITHER
    ),
    "signs": Attack(about="the stack: 90,000 signs", write=_file("hw1.py", _signs), status=EITHER),
    "attributes": Attack(
        about="the stack: 90,000 dots", write=_file("hw1.py", _attributes), status=EITHER
    ),
    "surrogates": Attack(
        about="text that cannot be encoded", write=_file("hw1.ipynb", _surrogates), status=EITHER
    ),
    "punycode": Attack(
        about="time: an encoding that is slow", write=_file("hw1.py", _punycode), status=EITHER
    ),
    "many_entries": Attack(
        about="time: 1.7 MB of names", write=_file("hw1.zip", _many_entries), status=RUN | NOTHING
    ),
    "long_names": Attack(
        about="names of 60,000 letters", write=_file("hw1.zip", _long_names), status=RUN | NOTHING
    ),
    "long_paths": Attack(
        about="30,000 folders in a zip", write=_file("hw1.zip", _long_paths), status=RUN | NOTHING
    ),
    "fifty_attempts": Attack(
        about="time: fifty slow attempts", write=_file("hw1.zip", _fifty_attempts), status=RUN
    ),
    "overlapping": Attack(
        about="a bomb: one body, a hundred members",
        write=_file("hw1.zip", _overlapping),
        status=EITHER | NOTHING,
    ),
    "nested_bomb": Attack(
        about="a bomb: zip files in zip files",
        write=_file("hw1.zip", _nested_bomb),
        status=NOTHING,
    ),
    "ratio_bomb": Attack(
        about="a bomb: a gigabyte of one letter",
        write=_file("hw1.zip", _ratio_bomb),
        status=NOT_READ | NOTHING,
    ),
    "claims": Attack(
        about="another student's row", write=_file("hw1.zip", _claims), status=RUN | NOTHING
    ),
    "undecodable_names": Attack(
        about="names that are no text",
        write=_file("hw1.zip", _undecodable_names),
        status=RUN | NOTHING,
    ),
    "backslashes": Attack(
        about="paths of Windows", write=_file("hw1.zip", _backslashes), status=RUN | NOTHING
    ),
    "nested_folders": Attack(
        about="recursion: 1,500 folders", write=_nested_folders, status=RUN, flat=False
    ),
    "links": Attack(
        about="files of the machine", write=_links, status=NOTHING | {"link"}, flat=False
    ),
    "pipe": Attack(about="reading without end", write=_pipe, status=NOTHING, flat=False),
    "no_utf8": Attack(about="names that are no text", write=_no_utf8, status=RUN, flat=False),
    "steering": Attack(about="the terminal and the table", write=_steering, status=RUN, flat=False),
    "year_999": Attack(
        about="a date that nothing can tell",
        write=_timestamp("0999-01-01 00:00:00 UTC"),
        status=RUN,
    ),
    "slow_date": Attack(about="time: a date", write=_timestamp(_late_dates()), status=RUN),
    "endless_loop": Attack(about="time", write=_hostile("endless_loop"), status=RUN),
    "endless_loop_while_loading": Attack(
        about="time", write=_hostile("endless_loop_while_loading"), status=RUN
    ),
    "fork_bomb": Attack(about="processes", write=_hostile("fork_bomb"), status=RUN),
    "thread_bomb": Attack(about="threads", write=_hostile("thread_bomb"), status=RUN),
    "output_flood": Attack(about="output", write=_hostile("output_flood"), status=RUN),
    "memory_hog": Attack(about="memory", write=_hostile("memory_bit_by_bit"), status=RUN),
    "kill_everyone": Attack(about="processes", write=_hostile("kill_everyone"), status=RUN),
}
