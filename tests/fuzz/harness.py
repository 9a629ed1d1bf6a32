"""Start of a fuzzing run: seeds into the corpus, then libFuzzer until it is told to stop."""

import hashlib
import json
import random
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import atheris

DICTIONARY = Path(__file__).with_name("json.dict")
# Put in place of any part of a document.
PARTS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 10**30, 0.5, -0.0, 1e300,
    "", "x", "\ud800", "\0", "é汉", "1.0", "a" * 5000, [], {}, [[]], {"": None}, [None] * 300,
)  # fmt: skip
# How a mutant finds the JSON within an input, and puts another in its place.
Split = Callable[[bytes], tuple[bytes, bytes, bytes]]
MOST_S = 10.0


class TooSlow(Exception):
    """An input took longer than any of its size may."""


def run(
    test_one: Callable[[bytes], None], seeds: Iterable[bytes], *, most_bytes: int, split: Split
) -> None:
    """Fuzz `test_one` with libFuzzer's options from the command line; never returns.

    The first folder named on the command line is the corpus: the seeds are added to it. An
    uncaught exception, more than ten seconds of processor time for one input, or too much memory
    ends the run, and the input is kept as `crash-…`, `timeout-…` or `oom-…`.

    Args:
        split: (head, JSON, tail) of an input; half of the mutants are made in the JSON's tree,
            because a byte changed in its text hardly ever leaves JSON.
    """
    options = [each for each in sys.argv[1:] if each.startswith("-")]
    folders = [each for each in sys.argv[1:] if not each.startswith("-")]
    for folder in folders[:1]:
        _plant(Path(folder), seeds)
    given = {option.partition("=")[0] for option in options}
    defaults = (
        f"-dict={DICTIONARY}",
        f"-max_len={most_bytes}",
        "-len_control=0",
        # In seconds of the wall, against hanging: on a busy machine these say nothing about us.
        "-timeout=300",
        "-rss_limit_mb=2048",
    )
    added = [each for each in defaults if each.partition("=")[0] not in given]

    def timed(data: bytes) -> None:
        before = time.process_time()
        test_one(data)
        used_s = time.process_time() - before
        if used_s > MOST_S:
            raise TooSlow(f"{used_s:.0f} s of processor time for {len(data)} bytes")

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.5:
            head, text, tail = split(data)
            if (changed := _changed(text, chance)) is not None:
                return (head + changed + tail)[:most]
        mutant: bytes = atheris.Mutate(data, len(data)) if len(data) >= most else b""
        return mutant or atheris.Mutate(data, most)

    atheris.Setup([sys.argv[0], *added, *options, *folders], timed, custom_mutator=mutate)
    atheris.Fuzz()


def _plant(folder: Path, seeds: Iterable[bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        (folder / hashlib.sha1(seed, usedforsecurity=False).hexdigest()).write_bytes(seed)


def _changed(text: bytes, chance: random.Random) -> bytes | None:
    """The JSON with one part of its tree changed; None when it is no JSON."""
    try:
        whole: Any = [json.loads(text)]
        places = _places(whole)
        for _ in range(chance.randint(1, 3)):
            _change(*chance.choice(places), places, chance)
        return json.dumps(whole[0]).encode()
    except (ValueError, RecursionError, LookupError):
        return None


def _places(whole: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of the tree."""
    found: list[tuple[Any, Any]] = []
    todo = [whole]
    while todo:
        each = todo.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each))
        found += [(each, key) for key in keys]
        todo += [each[key] for key in keys if isinstance(each[key], dict | list)]
    return found


def _change(container: Any, key: Any, places: list[tuple[Any, Any]], chance: random.Random) -> None:
    other, name = chance.choice(places)
    match chance.randrange(6):
        case 0:
            del container[key]
        case 1:
            container[key] = chance.choice(PARTS)
        case 2:
            container[key] = [container[key]] * chance.choice((1, 2, 50))
        case 3 if isinstance(container, dict):
            container[chance.choice(("", "later", str(name)))] = chance.choice(PARTS)
        case 4:
            # Through its text, because a tree that holds itself has none.
            container[key] = json.loads(json.dumps(other[name]))
        case _:
            container[key] = _other(container[key], chance)


def _other(value: Any, chance: random.Random) -> Any:
    match value:
        case bool() | None:
            return not value
        case int() | float():
            return chance.choice((value + 1, -value, value * 2, value + 0.5, str(value)))
        case str():
            at = chance.randint(0, len(value))
            return value[:at] + chance.choice(("", "\ud83d", "\n", "../", value)) + value[at:]
        case list():
            return chance.sample(value, len(value)) + value[: chance.randint(0, 2)]
        case _:
            return [*value.items()]
