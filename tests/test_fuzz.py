"""The fuzzing harnesses still fit what they fuzz: their seeds run, without the fuzzer."""

import contextlib
import importlib
import sys
import types
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "fuzz"


@pytest.fixture
def without_the_fuzzer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that instruments nothing, because Atheris is no dependency."""
    atheris = types.ModuleType("atheris")
    vars(atheris)["instrument_imports"] = lambda **_: contextlib.nullcontext()
    monkeypatch.setitem(sys.modules, "atheris", atheris)
    monkeypatch.setattr(sys, "path", [str(FUZZ), *sys.path])
    for name in ("harness", "fuzz_wire", "fuzz_report"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.parametrize("name", ["fuzz_wire", "fuzz_report"])
def test_every_seed_of_the_fuzzer_is_read_as_it_should_be(
    without_the_fuzzer: None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = importlib.import_module(name)
    monkeypatch.setattr(harness, "FILE", tmp_path / "report.json", raising=False)
    seeds = list(harness.seeds())

    for seed in seeds:
        harness.test_one(seed)

    assert len(seeds) > 50


@pytest.mark.parametrize("broken", [b"", b"\0", b"\0" + b"x" * 100, b"\1{}\0", b"\2\xff", b"\3"])
@pytest.mark.parametrize("name", ["fuzz_wire", "fuzz_report"])
def test_what_is_no_seed_is_refused_without_a_sound(
    without_the_fuzzer: None,
    name: str,
    broken: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = importlib.import_module(name)
    monkeypatch.setattr(harness, "FILE", tmp_path / "report.json", raising=False)

    assert harness.test_one(broken) is None
