"""What a newer Python has and the grader's may not: syntax, and names of the standard library.

A file that runs on the student's own Python is not wrong; it is told both versions.
"""

import re
import sys
from typing import TypeAlias

Version: TypeAlias = tuple[int, int]

# Only forms that mean nothing in an older Python, so that a plain slip is never called new.
_SYNTAX: tuple[tuple[re.Pattern[str], Version], ...] = (
    (re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[[^\]=]*=[^\]]*\]\s*[(:]"), (3, 13)),
    (re.compile(r"\s*type\s+\w+\s*\[[^\]=]*=[^\]]*\]\s*="), (3, 13)),
    (re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[\s*\*{0,2}\w[^\]]*\]\s*[(:]"), (3, 12)),
    (re.compile(r"\s*type\s+\w+\s*(?:\[[^\]]*\]\s*)?=(?!=)"), (3, 12)),
    (re.compile(r"\s*except\s*\*"), (3, 11)),
    # In Python 2 the second name was the exception itself, written small.
    (re.compile(r"\s*except\s+[\w.]+\s*(?:,\s*(?:\w+\.)*[A-Z]\w*\s*)+:"), (3, 14)),
    (re.compile(r"(?:.*[\s=(,\[{+])?[tT][rR]?(?:\"[^\"]*\"|'[^']*')"), (3, 14)),
    # The quote of an f-string used again within its braces.
    (re.compile(r".*\b[fF][rR]?(\"|')(?:(?!\1)[^{])*\{(?:(?!\1)[^{}])*\1[^{}]*\1"), (3, 12)),
)
_REASONS = (
    ("f-string expression part cannot include a backslash", (3, 12)),
    ("f-string expression part cannot include '#'", (3, 12)),
)

_NAMES: dict[str, dict[str, Version]] = {
    "asyncio": {
        "TaskGroup": (3, 11),
        "Runner": (3, 11),
        "timeout": (3, 11),
        "eager_task_factory": (3, 12),
        "QueueShutDown": (3, 13),
    },
    "collections.abc": {"Buffer": (3, 12)},
    "contextlib": {"chdir": (3, 11)},
    "copy": {"replace": (3, 13)},
    "datetime": {"UTC": (3, 11)},
    "enum": {"StrEnum": (3, 11), "ReprEnum": (3, 11), "member": (3, 11), "EnumDict": (3, 13)},
    "functools": {"Placeholder": (3, 14)},
    "inspect": {"markcoroutinefunction": (3, 12), "BufferFlags": (3, 12)},
    "itertools": {"batched": (3, 12)},
    "math": {"cbrt": (3, 11), "exp2": (3, 11), "sumprod": (3, 12), "fma": (3, 13)},
    "operator": {"call": (3, 11), "is_none": (3, 14), "is_not_none": (3, 14)},
    "os": {"process_cpu_count": (3, 13)},
    "pathlib": {"UnsupportedOperation": (3, 13)},
    "queue": {"ShutDown": (3, 13)},
    "random": {"binomialvariate": (3, 12)},
    "statistics": {"kde": (3, 13), "kde_random": (3, 13)},
    "types": {"get_original_bases": (3, 12), "CapsuleType": (3, 13)},
    "typing": {
        "LiteralString": (3, 11),
        "Never": (3, 11),
        "NotRequired": (3, 11),
        "Required": (3, 11),
        "Self": (3, 11),
        "TypeVarTuple": (3, 11),
        "Unpack": (3, 11),
        "assert_never": (3, 11),
        "assert_type": (3, 11),
        "dataclass_transform": (3, 11),
        "reveal_type": (3, 11),
        "TypeAliasType": (3, 12),
        "override": (3, 12),
        "NoDefault": (3, 13),
        "ReadOnly": (3, 13),
        "TypeIs": (3, 13),
        "get_protocol_members": (3, 13),
        "is_protocol": (3, 13),
        "evaluate_forward_ref": (3, 14),
    },
    "warnings": {"deprecated": (3, 13)},
}
_MODULES: dict[str, Version] = {
    "annotationlib": (3, 14),
    "compression": (3, 14),
    "concurrent.interpreters": (3, 14),
    "dbm.sqlite3": (3, 13),
    "string.templatelib": (3, 14),
    "tomllib": (3, 11),
    "wsgiref.types": (3, 11),
}


def newer_syntax(line: str, reason: str = "", *, than: Version | None = None) -> Version | None:
    """The Python that a refused line needs, when it is newer than the grader's.

    Args:
        reason: what Python said of the line.
        than: the grader's version (default: the running one).
    """
    here = than or sys.version_info[:2]
    for known, needed in _REASONS:
        if reason.startswith(known) and needed > here:
            return needed
    for form, needed in _SYNTAX:
        if needed > here and form.match(line):
            return needed
    return None


def newer_name(module: str, name: str = "") -> Version | None:
    """The Python that first has a module of the standard library, or a name in it.

    None when every supported Python has it, or it is not of the standard library.
    """
    if module in _MODULES:
        return _MODULES[module]
    if name and f"{module}.{name}" in _MODULES:
        return _MODULES[f"{module}.{name}"]
    parent = module.partition(".")[0]
    return _MODULES.get(parent) or _NAMES.get(module, {}).get(name)


def running() -> Version:
    """The Python that grades."""
    return sys.version_info[:2]


def spelt(version: Version) -> str:
    """A version as people write it: `3.12`."""
    return f"{version[0]}.{version[1]}"
