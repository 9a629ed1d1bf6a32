"""`grade doctor`: what the sandbox of this machine really enforces, found out by trying it."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import click

from grader import packages
from grader.assignment import find_all
from grader.cli import terminal
from grader.cli.layout import Line, columns, pad, wrap
from grader.cli.parameters import OneOf, Option
from grader.cli.root import Command, Desk, desk, shared_options
from grader.errors import AssignmentError, GraderError, UsageProblem
from grader.model import Language
from grader.texts import catalog

State = Literal["held", "not_held", "not_available"]

# Generous: without fork torch is imported once for each worker, on a slow disk for a minute.
PATIENCE_S: Final = 900.0
# What the grader promises wherever it runs; without these it cannot grade at all.
EVERYWHERE: Final = (
    "work_runs",
    "time_limited",
    "memory_limited",
    "output_limited",
    "death_told",
    "nothing_left",
)
# The layers without which the level is `reduced`, in the order in which they are explained.
NEEDED: Final = ("rlimits", "no_new_privs", "landlock", "seccomp")
# Those that make an attack harder still where they can be had.
EXTRA: Final = ("uid", "pid_namespace", "net_namespace", "mount_namespace", "tmpfs", "read_only")
_COLOURS: Final[Mapping[State, str]] = {
    "held": "green",
    "not_held": "red",
    "not_available": "yellow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """One promise, and what became of it when it was tried.

    Args:
        detail: what the system answered, in English; for whoever looks into it.
    """

    id: str
    state: State
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found out about this machine.

    Args:
        missing: layers that the level `full` needs and that are not in force.
    """

    works: bool
    level: str
    layers: tuple[str, ...]
    missing: tuple[str, ...]
    guarantees: tuple[Guarantee, ...]

    @property
    def is_full(self) -> bool:
        return self.level == "full" and all(each.state == "held" for each in self.guarantees)


def command(language: Language) -> click.Command:
    def option(flags: str, key: str, **settings: Any) -> Option:
        return Option(flags.split(), help=catalog.say(language, f"cli.doctor.{key}"), **settings)

    levels = OneOf(["auto", "full", "portable"])
    return Command(
        "doctor",
        callback=_run,
        params=[
            option("--json json_", "json", is_flag=True),
            option("--require", "require", type=OneOf(["full"])),
            option("--sandbox", "sandbox", type=levels, default="auto"),
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.doctor.help"),
    )


@click.pass_context
def _run(ctx: click.Context, *, json_: bool, require: str | None, sandbox: str) -> int:
    here = desk(ctx)
    terminal.say(here.say("cli.doctor.starting"))
    told = _told(sandbox)
    if "problem" in told:
        problem = str(told["problem"])
        if json_:
            terminal.emit(json.dumps({"works": False, "problem": problem}, indent=2) + "\n")
        else:
            terminal.show(wrap(here.say("cli.doctor.no_worker", problem=problem)))
        return 3
    found = diagnose(told)
    if json_:
        terminal.emit(json.dumps(_machine_readable(found, told, here), indent=2) + "\n")
    else:
        terminal.show(_screen(found, here))
    unmet = require is not None and not found.is_full
    if unmet:
        terminal.say(*wrap(here.say("cli.doctor.unmet")))
    return 3 if not found.works else 1 if unmet else 0


def _told(sandbox: str) -> dict[str, Any]:
    """What the probes print, from a process of their own: they import torch.

    Raises:
        GraderError: when they end without a word.
    """
    # Only here: `grade --help` need not wait for what starts processes.
    from grader.sandbox import launch

    kind = "portable" if sandbox == "portable" else "auto"
    with tempfile.TemporaryDirectory(prefix="torchgrade-") as private:
        folder = Path(private).resolve()
        program = f"from grader.sandbox.probes import main; main({kind!r}, {str(Path.home())!r})"
        process = subprocess.Popen(
            launch.command(program),
            cwd=folder,
            env=launch.environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **launch.own_group(),
        )
        try:
            printed, complaint = process.communicate(timeout=PATIENCE_S)
        finally:
            # After Ctrl-C, too: its workers end when it does.
            process.kill()
            process.wait()
    try:
        found = json.loads(printed)
    except ValueError as error:
        raise GraderError(complaint.decode("utf-8", "replace")[-4000:]) from error
    return dict(found)


def diagnose(told: Mapping[str, Any]) -> Diagnosis:
    """What the words of the probes mean on this machine."""
    layers = tuple(map(str, told["layers"]))
    level = str(told["level"])
    guarantees = tuple(_guarantee(each, level) for each in told["probes"])
    broken = {each.id for each in guarantees if each.state == "not_held"}
    return Diagnosis(
        works=broken.isdisjoint(EVERYWHERE),
        level=level,
        layers=layers,
        missing=tuple(name for name in NEEDED if name not in layers) if level != "full" else (),
        guarantees=guarantees,
    )


def _guarantee(probe: Mapping[str, Any], level: str) -> Guarantee:
    """Not held is only what was promised; what this level does not offer is not available."""
    name, detail = str(probe["guarantee"]), str(probe["detail"])
    state: State = "held" if probe["held"] else "not_held"
    if state == "not_held" and level != "full" and name not in EVERYWHERE:
        state = "not_available"
    return Guarantee(id=name, state=state, detail=detail)


def _machine_readable(found: Diagnosis, told: Mapping[str, Any], here: Desk) -> dict[str, Any]:
    return {
        "works": found.works,
        "full": found.is_full,
        "level": found.level,
        "layers": list(found.layers),
        "missing": list(found.missing),
        "guarantees": [asdict(each) for each in found.guarantees],
        "python": platform.python_version(),
        "torch": packages.version("torch"),
        "packages": _packages(here),
        "hardware": {"cores": os.cpu_count(), "gpu": None},
        "platform": told["platform"],
    }


def _packages(here: Desk) -> dict[str, str | None]:
    """What a submission finds besides torch; None for what an assignment names and lacks."""
    try:
        known = find_all(here.assignments, os.environ)
    except (UsageProblem, AssignmentError):
        # A machine is asked what it can do, whatever lies in its folders.
        known = ()
    named = dict.fromkeys(name for each in known for name in each.packages or ())
    return packages.versions((*named,))


def _finds(here: Desk) -> list[Line | str]:
    """The installation and the hardware that submissions are graded with."""
    found = _packages(here)
    there = [f"{name} {version}" for name, version in found.items() if version is not None]
    lacking = [name for name, version in found.items() if version is None]
    python, torch = platform.python_version(), packages.version("torch")
    rows = ["", *wrap(here.say("cli.doctor.finds", python=python, torch=torch, packages=there))]
    if lacking:
        rows += wrap(here.say("cli.doctor.finds_not", packages=lacking))
    return [*rows, *wrap(here.say("cli.doctor.hardware", cores=os.cpu_count() or 1))]


def _screen(found: Diagnosis, here: Desk) -> list[Line | str]:
    lines: list[Line | str] = wrapped(here.say("cli.doctor.title"))
    lines.append("")
    states = [here.say(f"doctor.state.{each}") for each in _COLOURS]
    width = max(map(columns, states))
    for each in found.guarantees:
        lines += _row(each, width, here)
    lines += ["", *wrapped(here.say(f"cli.doctor.level.{_grade(found)}"))]
    lines += _layers("cli.doctor.in_force", found.layers, here)
    lines += _layers("cli.doctor.lacking", found.missing, here)
    lines += _finds(here)
    for number, code in enumerate(_advice(found)):
        lines += ["", *wrapped(here.say("cli.doctor.what_helps"))] if number == 0 else []
        lines += wrapped(here.say(f"doctor.advice.{code}"), first="- ")
    return lines


def _row(each: Guarantee, width: int, here: Desk) -> list[Line | str]:
    word = here.say(f"doctor.state.{each.state}")
    head = "  " + pad(word, width) + "  "
    rows = wrap(here.say(f"doctor.guarantee.{each.id}"), first=head)
    lines: list[Line | str] = [Line(text=rows[0], word=word, colour=_COLOURS[each.state])]
    lines += rows[1:]
    if each.state == "not_held" and each.detail:
        lines += wrapped(f"({each.detail})", first=" " * columns(head))
    return lines


def _layers(code: str, names: Sequence[str], here: Desk) -> list[Line | str]:
    return wrapped(here.say(code, names=[*names])) if names else []


def _grade(found: Diagnosis) -> str:
    if not found.works:
        return "broken"
    if found.level == "full":
        return "full" if found.is_full else "leaking"
    return "reduced"


def _advice(found: Diagnosis) -> tuple[str, ...]:
    """What would help, most useful first; nothing where all is well."""
    if not found.works or found.is_full:
        return () if found.is_full else ("report",)
    if found.level == "full":
        return ("report", "alone")
    if sys.platform != "linux":
        return ("linux", "alone")
    if not {"landlock", "seccomp"} & set(found.layers) and "rlimits" not in found.layers:
        # The portable way was chosen, or this processor has no other.
        return ("auto", "alone")
    return (*(each for each in ("landlock", "seccomp") if each in found.missing), "alone")


def wrapped(text: str, *, first: str = "") -> list[Line | str]:
    return [*wrap(text, first=first)]
