"""What must hold whatever a submission does, through the real command and the real suites."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from test_cli import LOCALE, ROOT, err, grade
from test_judge import RIGHT as TINY
from test_judge import outside_run, tiny

RIGHT = """\
import torch


def add_position_vectors(token_vectors, position_vectors):
    print("adding", token_vectors.shape)
    return token_vectors + position_vectors
"""
WRONG = RIGHT.replace("token_vectors + pos", "token_vectors - pos")
BATCHLESS = RIGHT.replace("return token", "assert token_vectors.ndim == 2\n    return token")

ZEROS = """
import json, os, struct, sys, gc, torch


def add_position_vectors(token_vectors, position_vectors):
{body}
    return torch.zeros_like(token_vectors)
"""

# Needs the call's own id, as student code can find it on the stack.
ANSWER = """\
    step = sys._getframe()
    while "request" not in step.f_locals:
        step = step.f_back
    call_id = step.f_locals["request"]["id"]
    value = ["a", 0]
    arrays = [["float32", list(token_vectors.shape)]]
    body = bytes(4 * token_vectors.numel())

    def answer(call_id):
        told = [["id", call_id], ["kind", "returned"], ["value", value], ["claims", ["d"]]]
        header = json.dumps({"m": ["d", *told], "a": arrays}).encode()
        return struct.pack(">II", len(header), len(body)) + header + body
"""

REPORT = '{"score": 10, "status": "graded", "verdict": "passed", "now": "done"}'


def zeros(body: str, *, before: str = "") -> str:
    return before + ZEROS.format(body=body or "    pass")


CHEATS = {
    "three_lines": zeros(
        "",
        before="import torch\n"
        "torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True\n"
        "torch.testing.assert_close = lambda *a, **k: None\n"
        "torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)\n",
    ),
    "leaves": zeros("    os._exit(0)"),
    "leaves_while_loading": zeros("") + "\nos._exit(0)\n",
    "exits": zeros("    sys.exit(0)"),
    "exits_while_loading": "import sys\nsys.exit(0)\n" + zeros(""),
    "nan": RIGHT.replace("position_vectors\n", "position_vectors * float('nan')\n"),
    "infinite": RIGHT.replace("position_vectors\n", "position_vectors + float('inf')\n"),
    "subclass": zeros(
        "    return token_vectors.as_subclass(Agreeable)",
        before="import torch\nclass Agreeable(torch.Tensor):\n"
        "    def __eq__(self, other): return torch.ones(self.shape, dtype=torch.bool)\n"
        "    __hash__ = torch.Tensor.__hash__\n"
        "    @classmethod\n    def __torch_function__(cls, *args, **kwargs): return True\n",
    ),
    "lazy": zeros("    return (each for each in token_vectors)"),
    "printed_report": zeros(f"    print('{REPORT}')\n    sys.__stdout__.write('{REPORT}\\n')"),
    "every_descriptor": zeros(
        f"    for each in range(256):\n        try: os.write(each, b'{REPORT}\\n')\n"
        "        except OSError: pass"
    ),
    "stack": zeros(
        "    step = sys._getframe()\n    while step:\n"
        "        for value in [*step.f_locals.values(), *step.f_globals.values()]:\n"
        "            if isinstance(value, torch.Tensor) and value.shape == token_vectors.shape"
        " and value is not token_vectors and value is not position_vectors: return value\n"
        "        step = step.f_back"
    ),
    "heap": zeros(
        "    found = [each for each in gc.get_objects() if type(each) is torch.Tensor\n"
        "             and each.shape == token_vectors.shape\n"
        "             and each is not token_vectors and each is not position_vectors]\n"
        "    if found: return found[-1]"
    ),
    "early_answer": zeros("") + f"\nos.write(3, b'{REPORT}')\n",
    "two_answers": zeros(ANSWER + "    os.write(3, answer(call_id) * 2)"),
    "wrong_id": zeros(ANSWER + "    os.write(3, answer('0' * 16)); import time; time.sleep(30)"),
    "hidden_module": zeros(
        "    for name in list(sys.modules):\n"
        "        if name.startswith(('pytest', 'grader.suite', 'test_')): return sys.modules[name]"
    ),
    "arguments": zeros("    return token_vectors"),
    "clones": zeros("    return position_vectors.clone().expand_as(token_vectors)"),
    "huge": zeros("    return torch.zeros(1 << 22)"),
}


def check(
    work: Path, sources: Mapping[str, str], *options: str, env: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """The reports of one command over all files, by name; none of them may be missing."""
    work.mkdir(exist_ok=True)
    for name, text in sources.items():
        (work / f"{name}.py").write_text(text)
    files = [f"{name}.py" for name in sources]
    shutil.rmtree(work / "reports", ignore_errors=True)
    result = grade("check", *files, "--out", "reports", *options, cwd=work, env=env)
    found = [json.loads(path.read_text()) for path in (work / "reports").rglob("*.json")]
    reports = {Path(each["submission"]["file"]).stem: each for each in found}
    assert set(reports) == set(sources), err(result)
    return reports


def verdicts(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "score": report["score"],
        "criteria": {each["id"]: each["verdict"] for each in report["criteria"]},
        "tests": {each["id"]: each["verdict"] for each in report["tests"]},
    }


# --- a submission earns only what it computes ---------------------------------------------------


def test_no_cheat_earns_a_point_and_nothing_is_left_of_it(tmp_path: Path) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()

    reports = check(tmp_path / "work", {**CHEATS, "honest": RIGHT}, env={"TMPDIR": str(scratch)})

    honest = reports.pop("honest")
    assert (honest["status"], honest["score"]) == ("graded", 10)
    assert {name: each["status"] for name, each in reports.items()} == dict.fromkeys(
        CHEATS, "graded"
    )
    assert {name: each["score"] for name, each in reports.items()} == dict.fromkeys(CHEATS, 0)
    assert list(scratch.iterdir()) == []


@pytest.mark.long
def test_no_cheat_earns_a_point_in_the_portable_sandbox(tmp_path: Path) -> None:
    reports = check(tmp_path / "work", CHEATS, "--sandbox", "portable")

    assert {name: each["score"] for name, each in reports.items()} == dict.fromkeys(CHEATS, 0)


# --- nothing beside the submission counts -------------------------------------------------------

HIJACK = "raise SystemExit('hijacked')\n"
BESIDE = {
    "conftest.py": HIJACK,
    "torch.py": HIJACK,
    "json.py": HIJACK,
    "numpy.py": HIJACK,
    "click.py": HIJACK,
    "pytest.py": HIJACK,
    "sitecustomize.py": HIJACK,
    "usercustomize.py": HIJACK,
    "hijack.py": HIJACK,
    "hijack.pth": "import os; os._exit(9)\n",
    "pytest.ini": "[pytest]\naddopts = --collect-only\n",
    "tox.ini": "[pytest]\naddopts = --collect-only\n",
    "setup.cfg": "[tool:pytest]\naddopts = --collect-only\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
    "test_public.py": HIJACK,
    "reference.py": HIJACK,
}
VARIABLES = {
    "PYTHONSTARTUP": "hijack.py",
    "PYTHONOPTIMIZE": "2",
    "PYTHONWARNINGS": "error",
    "PYTHONHASHSEED": "7",
    "PYTHONDEVMODE": "",
    "PYTHONBREAKPOINT": "hijack.stop",
    "PYTHONUNBUFFERED": "1",
    "PYTEST_ADDOPTS": "--collect-only",
    "PYTEST_PLUGINS": "hijack",
    "PYTEST_DEBUG": "1",
    "OMP_NUM_THREADS": "2",
    "MPLBACKEND": "hijack",
    "LC_ALL": "C",
    "TZ": "Asia/Shanghai",
}


def test_what_lies_around_changes_no_byte_of_a_report(tmp_path: Path) -> None:
    sources = {"right": RIGHT, "batchless": BATCHLESS, "wrong": WRONG}
    plain = check(tmp_path / "work", sources, "--audience", "staff")
    work = tmp_path / "work"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name, text in BESIDE.items():
        (work / name).write_text(text)
        if not name.endswith("customize.py"):
            (elsewhere / name).write_text(text)
    course = tiny(work / "assignments", id_="hw1")
    (course / "hw1_example" / "assignment.toml").write_text(HIJACK)
    env = {**VARIABLES, "PYTHONPATH": str(elsewhere)}

    seen = check(work, sources, "--audience", "staff", env=env)

    assert {name: each["score"] for name, each in plain.items()} == {
        "right": 10,
        "batchless": 7,
        "wrong": 0,
    }
    assert {name: outside_run(each) for name, each in seen.items()} == {
        name: outside_run(each) for name, each in plain.items()
    }


PLACES = """\
import os, pathlib, tempfile
print(os.getcwd(), os.environ["HOME"], tempfile.gettempdir(), pathlib.Path("x").absolute())
print(f"[{os.getcwd():^80}]", tempfile.mkdtemp())
open(os.path.join(os.getcwd(), "data.csv"))


def add_position_vectors(token_vectors, position_vectors):
    with tempfile.NamedTemporaryFile() as file:
        print(file.name)
    if token_vectors.ndim == 3:
        raise ValueError(os.getcwd())
    return token_vectors + position_vectors
"""


@pytest.mark.parametrize("sandbox", ["auto", "portable"])
def test_where_a_submission_was_run_does_not_show_in_its_report(
    tmp_path: Path, sandbox: str
) -> None:
    sources = {"before": RIGHT, "places": PLACES}
    words = ("--audience", "staff", "--sandbox", sandbox)
    (alone,) = check(tmp_path / "alone", {"places": PLACES}, *words).values()

    after_another = check(tmp_path / "work", sources, *words)["places"]

    assert alone["score"] < 10
    assert "torchgrade-xxxxxxxx" in alone["output"]["text"]
    assert outside_run(alone) == outside_run(after_another)


@pytest.mark.long
def test_verdicts_do_not_depend_on_the_vector_units_of_the_machine(tmp_path: Path) -> None:
    sources = {"right": RIGHT, "batchless": BATCHLESS, "wrong": WRONG}
    plain = check(tmp_path / "work", sources)

    seen = check(tmp_path / "work", sources, env={"ATEN_CPU_CAPABILITY": "default"})

    assert {each["run"]["cpu_capability"] for each in seen.values()} == {"DEFAULT"}
    assert {name: verdicts(each) for name, each in seen.items()} == {
        name: verdicts(each) for name, each in plain.items()
    }


# --- what is loaded where --------------------------------------------------------------------


def test_the_front_desk_loads_neither_torch_nor_pytest() -> None:
    program = (
        "import sys, grader.cli.entry, grader.cli.check, grader.grading, grader.report;"
        "print(sorted({'torch', 'numpy', 'pytest', '_pytest'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert result.stdout == "[]\n"


UNPICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}


def test_nothing_in_the_package_can_unpickle() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "grader").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if _unpickles(node)
    ]

    assert found == []


def _unpickles(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(each.name.split(".")[0] in UNPICKLERS for each in names)
        case ast.ImportFrom(module=str(module)):
            return module.split(".")[0] in UNPICKLERS
        case ast.Attribute(value=ast.Name(id="torch" | "numpy" | "np"), attr="load"):
            return True
        case ast.keyword(arg="allow_pickle"):
            return True
    return False


# --- nothing is left ---------------------------------------------------------------------------

HANGING = """\
import os, time
from pathlib import Path


def double(x):
    try:
        # Locked down, a submission cannot fork; where it can, this one leaves a daemon.
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            time.sleep(600)
    except OSError:
        pass
    Path("running").touch()
    while True:
        Path(f"file-{time.monotonic_ns() % 50}").touch()


def half(n):
    return n / 2
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts processes as Linux shows them")
@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("sandbox", ["auto", pytest.param("portable", marks=pytest.mark.long)])
def test_an_interrupted_check_leaves_no_process_and_no_file(
    tmp_path: Path, signal_: signal.Signals, sandbox: str
) -> None:
    scratch, work = tmp_path / "tmp", tmp_path / "work"
    for folder in (scratch, work):
        folder.mkdir()
    (work / "hanging.py").write_text(HANGING)
    desk = _started(tiny(tmp_path / "course", call_s=60), work, scratch, sandbox)
    while not _is_in_the_call(desk):
        assert desk.poll() is None
    family = psutil.Process(desk.pid).children(recursive=True)

    desk.send_signal(signal_)
    code = desk.wait(60)

    assert psutil.wait_procs(family, timeout=60)[1] == []
    assert code == {signal.SIGINT: 130}.get(signal_, -signal_)
    assert list(scratch.iterdir()) == []
    assert not (work / "report.json").exists()


def _is_in_the_call(desk: "subprocess.Popen[bytes]") -> bool:
    """Whether one of its processes works in a folder in which the call has begun."""
    try:
        family = psutil.Process(desk.pid).children(recursive=True)
        return any(Path(f"/proc/{each.pid}/cwd/running").exists() for each in family)
    except (psutil.Error, OSError):
        return False


def _started(course: Path, work: Path, scratch: Path, sandbox: str) -> "subprocess.Popen[bytes]":
    clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "grader", "--assignments", str(course)),
            *("check", "hanging.py", "--json", "report.json", "--sandbox", sandbox),
        ],
        cwd=work,
        env={**clean, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_failed_grader_leaves_no_file(tmp_path: Path) -> None:
    scratch, work = tmp_path / "tmp", tmp_path / "work"
    for folder in (scratch, work):
        folder.mkdir()
    course = tiny(tmp_path / "course", suite="import nowhere_to_be_found\n")
    (work / "one.py").write_text(TINY)

    result = grade(
        "--assignments", str(course), "check", "one.py", cwd=work, env={"TMPDIR": str(scratch)}
    )

    assert result.returncode == 3
    assert list(scratch.iterdir()) == []


# --- who runs it ---------------------------------------------------------------------------------


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="becoming an ordinary user takes root and setpriv",
)
def test_an_ordinary_user_gets_the_same_verdicts_as_root(tmp_path: Path) -> None:
    become = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    work = tmp_path / "work"
    as_root = check(work, {"right": RIGHT, "wrong": WRONG})
    for folder in (tmp_path, work):
        folder.chmod(0o777)
    shutil.rmtree(work / "reports")
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(work)}
    program = [*become, sys.executable, "-m", "grader"]
    # The interpreter is found again by a process that the grader starts, so that is what is tried.
    trial = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', '']))"
    if _fails([*become, sys.executable, "-c", trial], work, env) or _fails(
        [*program, "list"], work, env
    ):
        pytest.skip("an ordinary user cannot read this Python or this checkout")

    subprocess.run(
        [*program, "check", "right.py", "wrong.py", "--out", "reports"],
        cwd=work,
        env=env,
        capture_output=True,
        check=False,
    )

    found = [json.loads(path.read_text()) for path in (work / "reports").rglob("*.json")]
    assert {Path(e["submission"]["file"]).stem: outside_run(e) for e in found} == {
        name: outside_run(each) for name, each in as_root.items()
    }


def _fails(command: list[str], folder: Path, env: Mapping[str, str]) -> bool:
    try:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    except OSError:
        return True
    return done.returncode != 0
