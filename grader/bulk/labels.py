"""What names say where no platform wrote them: a student, a version, what a file is for."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from unicodedata import normalize

# What looks back begins at the first of many spaces and at no other: else it would be quadratic.
_COPY = re.compile(
    r"\(\d{1,3}\)|(?<![ _])[ _]*+-\s*+Copy\s*+(?:\d+|\(\d+\))?$|^Copy of\b"
    r"|(?<!\s)\s*+-?\s*+副本$",
    re.I,
)
_NUMBER = re.compile(r"(?:\((\d{1,9})\)|-(\d{1,3}))$")
_DUPLICATE = re.compile(r"-\s*Copy\s*(?:\d+|\(\d+\))?$|^Copy of\b|副本(?:\s*\(\d+\))?$", re.I)
# Where a word begins: also after a Chinese character, and after a student's number.
_BEGIN: Final = r"(?:(?<![^\W_\u3400-\u9fff])|(?<=\d{5}))"
_HOMEWORK = re.compile(
    _BEGIN + r"(?:home ?work|assignment|hw)[\W_]*(?:\d+|one|two|three|four|five|six)?(?![^\W_])"
    r"|(?:第?[一二三四五六七八九十\d]{1,3}次)?(?:课后|平时|编程)?作业[\W_]*[一二三四五六七八九十\d]{0,3}"
    + r"|"
    + _BEGIN
    + r"(?:(?:haus)?aufgabe|übung|blatt|devoir|tarea|compito|exercise|pset|problem set|宿題|과제)"
    r"[\W_]*\d{1,3}(?!\d)",
    re.IGNORECASE,
)
_DATE = re.compile(r"(?<!\d)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?!\d)")
_EIGHT = re.compile(r"(?<!\d)20\d{6}(?!\d)")
_EDITION = re.compile(
    r"(?<![^\W_])(?:v(?:ersion|er)?[ ._-]?(\d{1,4})|final|draft|updated|corrected|latest|fixed"
    r"|revised|old|backup|最终版?|终稿|修改版?|初稿)(?![^\W_])",
    re.IGNORECASE,
)
_EDGES = re.compile(r"^[\s_.,;，、·-]+|[\s_.,;，、·-]+$")
_EARLY: Final = frozenset({"draft", "old", "backup", "初稿"})
# What people call files and folders, and never a person.
_GENERIC: Final = frozenset(
    """
    a all an answer answers archive attempt attempts backup backups batch both class classes code
    collected copy current data docs done download downloaded downloads draft drafts dropbox entry
    example examples exercise exercises export exported file files final folder gradebook grades
    grading group groups handed hand handin handout helper helpers homework homeworks in inbox index
    info input instructions lab labs lib license main marks material materials misc model my new
    notebook notebooks notes of old onedrive other others output part parts previous project
    projects python question questions readme received release repo repos requirements results
    roster rubric scores scratch section
    sections sol solution solutions source sources src starter student students studio sub
    submission submissions submit submitted task tasks team teams template templates temp test
    tests the the tmp turned tutorial tutorials untitled upload uploads util utils version versions
    week weeks work works zip 作业 全部 提交 文件 文件夹 答案 班 解答 课程 下载 模板 旧
    新建文件夹 新建 名单 成绩 说明 副本
    """.split()  # noqa: SIM905 - a list of words
)
# Made up for people whose names are not told: `student01`, `user_7`. The number is the name.
_NUMBERED = re.compile(
    r"(?<![^\W_])(?:student|stud|user|candidate|participant|learner|anon(?:ymous)?|学生|考生)"
    r"[ _.-]?\d{1,12}(?!\d)",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"(?:section|sec|group|class|part|lab|tutorial|tut|week|unit|course|session|stream|cohort"
    r"|[A-Z]?\d{1,2}班|第?[一二三四五六七八九十\d]{1,3}[班组]|.{0,20}\d班"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)"
    r"[\s_.-]*(?:[A-Za-z]?\d{0,3}|\d{1,2}(?:[.:h]?\d\d)? ?(?:[ap]\.?m\.?)?)",
    re.IGNORECASE,
)
# Google Drive: `Homework-20260301T100000Z-001.zip`, newer `drive-download-…Z-3-001.zip`.
_DRIVE = re.compile(r"(?P<head>.+)-\d{8}T\d{6}Z(?:-\d{1,3}){1,2}", re.DOTALL)
_EDITION_FOLDER = re.compile(
    r"(?:v(?:ersion|er)?|attempt|submission|try|upload|revision|versuch|abgabe|tentative|intento"
    r"|版本|提交)[ ._-]*(\d{1,4})|第\s*(\d{1,4})\s*次(?:提交|作业)?",
    re.IGNORECASE,
)
# Folders that staff make beside those of students: the late ones, and what is no submission.
_LATE = re.compile(
    r"late|on[ _-]?time|resubmi(?:ssions?|tted)|extensions?|make[ _-]?ups?"
    r"|迟交|补交|晚交|按时|准时",
    re.IGNORECASE,
)
_NOBODYS = re.compile(
    r"(?:(?:model|sample|example|reference)[ _-]?)?(?:solutions?|answers?|answer[ _-]?keys?)"
    r"|starter|templates?|examples?|samples?|materials?|handouts?|instructions?|答案|参考答案|模板|资料",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?P<head>.*?)(?:[\s_-]{0,8}(?:part|teil|第)?[\s_-]{0,8}\(?\d{1,3}\)?(?:部分)?)", re.I
)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Version:
    """Which of several files with one name is the newer one: by date, word, then number."""

    date: str = ""
    word: int = 0
    edition: int = 0
    number: int = 0


def plain(text: str) -> str:
    """The text with full-width letters, digits and marks as ordinary ones."""
    return normalize("NFKC", text)


def without_accents(text: str) -> str:
    """`Sean` of `Seán`; what is a letter of its own elsewhere stays (`が`, `й`)."""
    return re.sub("[\u00c0-\u017f\u01cd-\u01dc\u1e00-\u1eff]", _bare, text)


def _bare(found: re.Match[str]) -> str:
    return normalize("NFD", found[0])[0]


def student_in(stem: str, ids: Collection[str], numbers: Collection[str] = ()) -> str | None:
    """`lee` of `lee_hw1` and `Smith, Jo` of `Smith, Jo hw1 (2)`; None when nobody is left."""
    rest = _rest(plain(stem), ids, numbers)
    if not is_generic(rest) or rest in numbers:
        return rest
    numbered = _NUMBERED.search(plain(stem))
    return numbered[0] if numbered is not None else None


def numbers_among(names: Iterable[str], ids: Collection[str]) -> frozenset[str]:
    """Numbers of students that could be dates: `20230115` is number 15 of class 01 of 2023.

    They are numbers where most names beside each other have one that something follows, and none
    is shared by two people, as a date would be.
    """
    stems = list(dict.fromkeys(plain(each) for each in names))
    found = {stem: number for stem in stems if (number := _number_before(stem)) is not None}
    people: dict[str, set[str | None]] = {}
    for stem, number in found.items():
        people.setdefault(number, set()).add(student_in(stem.replace(number, " "), ids))
    shared = any(len(each) > 1 for each in people.values())
    if shared or len(people) < 2 or 2 * len(found) <= len(stems):
        return frozenset()
    return frozenset(people)


def _number_before(stem: str) -> str | None:
    """Eight digits that are the whole name, or that more than a version comes after."""
    found = _EIGHT.search(stem)
    if found is None:
        return None
    rest = _EDITION.sub(" ", _COPY.sub(" ", stem[found.end() :]))
    return found[0] if found[0] == stem or any(char.isalpha() for char in rest) else None


def number_and_name(student: str, dated: Collection[str] = ()) -> tuple[str, str] | None:
    """(`0012301`, `张三`) of `张三_0012301` or `0012301-张三`, else None."""
    if _NUMBERED.fullmatch(student) is not None:
        return None
    # A letter that belongs to the number tells two people apart: `u1234567`, `A0123456X`.
    numbers = re.findall(r"(?<![A-Za-z])[A-Za-z]{0,3}\d{5,}[A-Za-z]{0,2}(?![A-Za-z])", student)
    numbers = [each for each in numbers if each in dated or not _is_date(each)]
    if len(numbers) != 1:
        return None
    rest = _EDGES.sub("", re.sub(r"[()（）\[\]【】]", " ", student.replace(numbers[0], " ")))
    letters = any(char.isalpha() for char in rest)
    return (numbers[0], " ".join(rest.split())) if letters and not re.search(r"\d", rest) else None


def is_generic(name: str) -> bool:
    """Whether a name is nobody's: `solution`, `turned in`, `week 3`, or nothing at all."""
    words = [each for each in re.split(r"[\W\d_]+", name.lower()) if each]
    if words:
        return all(each in _GENERIC for each in words)
    digits = re.sub(r"\D", "", name)
    return len(digits) < 4 or _is_date(digits)


def is_section(name: str) -> bool:
    """Whether a folder's name is one of a part of a class: `section A`, `Group 3`, `2班`."""
    return _SECTION.fullmatch(plain(name).strip()) is not None or is_late(name)


def is_late(name: str) -> bool:
    """Whether a folder holds those who were late, or were not: `late`, `Resubmissions`."""
    return _LATE.fullmatch(plain(name).strip()) is not None


def is_nobodys(name: str) -> bool:
    """Whether a folder holds what no student handed in: `solution`, `Template`."""
    return _NOBODYS.fullmatch(plain(name).strip()) is not None


def part_of(name: str) -> str | None:
    """What the parts of one download share: `drive-download-…` of `drive-download-…-001.zip`."""
    stem = name.removesuffix(".zip")
    if stem.isdigit() or _NUMBERED.fullmatch(plain(stem)) is not None:
        return None
    if (drive := _DRIVE.fullmatch(stem)) is not None:
        return drive["head"].lower()
    found = _PART.fullmatch(stem)
    if found is None or found["head"] == stem:
        return None
    head = _EDGES.sub("", found["head"]).lower()
    return head if is_generic(head) else None


def is_download(name: str) -> bool:
    """Whether a site made a folder of what was chosen there: `Homework-20260301T100000Z-001`."""
    return _DRIVE.fullmatch(name.removesuffix(".zip")) is not None


def editions(folders: Sequence[str]) -> tuple[tuple[str, ...], int] | None:
    """What lies above the outermost folder that is one version of a work, and which one it is."""
    for at, name in enumerate(folders):
        whole = plain(name).strip()
        if (found := _EDITION_FOLDER.fullmatch(whole)) is not None:
            return tuple(folders[:at]), int(found[1] or found[2])
        if (day := _DATE.fullmatch(whole)) is not None and _is_date("".join(day.groups())):
            return tuple(folders[:at]), int("".join(day.groups()))
    return None


def version(file: str) -> Version:
    """The version that a file's name tells; none is the oldest."""
    stem = plain(_stem(file))
    date = _DATE.search(stem)
    edition = _EDITION.search(stem)
    word = 0
    if edition is not None and edition[1] is None:
        word = -1 if edition[0].lower() in _EARLY else 1
    return Version(
        date="".join(date.groups()) if date and _is_date("".join(date.groups())) else "",
        word=word,
        edition=int(edition[1]) if edition and edition[1] else 0,
        number=copy_number(file),
    )


def base(file: str) -> str:
    """The name without version and copy: equal for files that are versions of each other."""
    stem = _DATE.sub(" ", plain(_stem(file)))
    rest = _EDITION.sub(" ", _NUMBER.sub(" ", _COPY.sub(" ", stem).strip()))
    return re.sub(r"[\W_]+", " ", rest).strip().lower()


def is_copy(file: str) -> bool:
    """Whether a program copied it from another file: `hw1 - Copy.py`, `hw1 - 副本.py`."""
    return _DUPLICATE.search(_stem(file).strip()) is not None


def copy_number(file: str) -> int:
    """2 for `hw1 (2).py`, 1 for `hw1-1.py` and `hw1 - Copy.py`, 0 for `hw1.py`."""
    stem = plain(_stem(file)).strip()
    if (found := _NUMBER.search(stem)) and not _DATE.search(stem[-10:]):
        return int(found[1] or found[2])
    copied = re.search(r"-\s*Copy\s*\(?(\d{0,9})\)?$", stem, re.I)
    return int(copied[1] or "1") if copied else 0


def mentions(name: str, id_: str) -> bool:
    """Whether a file's name holds an assignment's id: `HW-1 (2).ipynb` does for hw1."""
    return _mention(id_).search(plain(_stem(name))) is not None


def role(inner: Sequence[str]) -> str:
    """What a file is for, by its path in what a student handed in.

    `work`; `test` for tests and what tools need; `old` for backups, drafts and starters.
    """
    name = inner[-1].lower()
    folders = {word for each in inner[:-1] for word in re.split(r"[\W\d_]+", each.lower())}
    if re.fullmatch(r"(?:test_.*|.*_tests?|conftest|setup|noxfile)\.(?:py|ipynb)", name):
        return "test"
    if folders & {"test", "tests"}:
        return "test"
    old = {"old", "backup", "backups", "archive", "previous", "draft", "drafts", "旧", "备份"}
    given = {"starter", "template", "templates", "original", "checkpoint", "checkpoints"}
    words = set(re.split(r"[\W\d_]+", name))
    return "old" if folders & (old | given) or words & given else "work"


def _rest(stem: str, ids: Collection[str], numbers: Collection[str] = ()) -> str:
    rest = _COPY.sub(" ", stem)
    for id_ in sorted(ids, key=len, reverse=True):
        rest = _mention(id_).sub(" ", rest)
    rest = _HOMEWORK.sub(" ", rest)
    for noise in (_DATE, _EDITION):
        cleared = noise.sub(lambda match: match[0] if match[0] in numbers else " ", rest)
        less = _EDGES.sub("", cleared)
        rest = less or rest
    return re.sub(r" {2,}", " ", _EDGES.sub("", rest))


def _stem(file: str) -> str:
    return file.rpartition(".")[0] or file


def _is_date(digits: str) -> bool:
    # Of seven digits `strptime` makes a date, too: 2023101 is a student's number.
    try:
        return (
            len(digits) == 8
            and digits.startswith("20")
            and bool(datetime.strptime(digits, "%Y%m%d"))
        )
    except ValueError:
        return False


def _mention(id_: str) -> re.Pattern[str]:
    letters = id_.rstrip("0123456789")
    digits = id_[len(letters) :]
    spelt = r"[\W_]*".join(re.escape(part) for part in re.split(r"[\W_]+", letters) if part)
    number = rf"[\W_]*0*{int(digits)}(?!\d)(?:-\d{{1,2}}(?![^\W_]))?" if digits else r"(?![^\W\d_])"
    return re.compile(rf"{_BEGIN}{spelt}{number}", re.IGNORECASE)
