"""The workflow for instructors: what it may do, and its own commands on the example class.

The runner is played by this module: a checkout, an upload and a download are folders, every
`run` block is given to bash as GitHub gives it, with the variables of its step. Only the
installation is left out.
"""

import csv
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from test_cli import LOCALE, ROOT, err, grade
from test_cli_batch import outcome

WORKFLOW = ROOT / ".github" / "workflows" / "grade.yml"
TEXT = WORKFLOW.read_text("utf-8")
CLASS = ROOT / "submissions_example"
FILES = tomllib.loads((CLASS / "expected.toml").read_text("utf-8"))["files"]
SEED = "9320250301020250301"


def workflow() -> dict[Any, Any]:
    # YAML 1.1 reads the key `on` as true.
    read: dict[Any, Any] = yaml.safe_load(TEXT)
    return read


JOBS: Final[dict[str, dict[str, Any]]] = workflow()["jobs"]
CALL: Final[dict[str, Any]] = workflow()[True]["workflow_call"]
STEPS = [(name, step) for name, job in JOBS.items() for step in job["steps"]]


# --- what it may do ------------------------------------------------------------------------------


def test_every_action_is_pinned_by_a_hash_and_names_its_version() -> None:
    uses = re.findall(r"uses: *(.*)", TEXT.partition("\njobs:")[2])

    assert len(uses) == sum("uses" in step for _, step in STEPS) >= 8
    for each in uses:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each), each


def test_an_action_has_one_hash_in_all_workflows() -> None:
    pinned: dict[str, set[str]] = {}
    for file in WORKFLOW.parent.glob("*.yml"):
        for action, pin in re.findall(r"uses: *(actions/[a-z-]+)@(.*)", file.read_text("utf-8")):
            pinned.setdefault(action, set()).add(pin)

    assert {action: len(pins) for action, pins in pinned.items()} == dict.fromkeys(pinned, 1)


def test_nothing_may_be_written_and_no_token_is_left_behind() -> None:
    checkouts = [step["with"] for _, step in STEPS if "checkout" in step.get("uses", "")]

    assert workflow()["permissions"] == {}
    assert all(job["permissions"] == {"contents": "read"} for job in JOBS.values())
    assert [each["persist-credentials"] for each in checkouts] == [False] * len(checkouts)


def test_no_script_is_built_from_an_expression() -> None:
    scripts = [step["run"] for _, step in STEPS if "run" in step]

    assert len(scripts) >= 6
    assert [each for each in scripts if "${{" in each] == []


def test_jobs_that_grade_or_merge_know_no_secret() -> None:
    told = {name for name, job in JOBS.items() if "secrets." in json.dumps(job)}

    assert told == {"plan"}
    assert "secrets." not in json.dumps(workflow()["env"])
    assert all(not each["required"] for each in CALL["secrets"].values())


def test_what_was_handed_in_arrives_after_the_installation() -> None:
    names = [step.get("name") for step in JOBS["grade"]["steps"]]

    assert names.index("Install") < names.index("Fetch the submissions")
    assert names.index("Install") < names.index("Fetch the calling repository")
    assert names.index("Try out the sandbox") < names.index("Grade")


def test_every_job_ends_and_one_bad_shard_stops_no_other() -> None:
    assert all(isinstance(job["timeout-minutes"], int) for job in JOBS.values())
    assert JOBS["grade"]["strategy"]["fail-fast"] is False
    assert workflow()["concurrency"]["cancel-in-progress"] is False


def test_feedback_can_be_published_without_anything_for_staff() -> None:
    kept = {
        step["with"]["name"].partition("}}")[2]: step["with"]["path"].split()
        for step in JOBS["merge"]["steps"]
        if "upload-artifact" in step.get("uses", "")
    }

    assert kept == {
        "-scores": ["results/scores.csv"],
        "-reports": ["results/reports", "results/run.json"],
        "-feedback": ["results/feedback"],
        "-summary": ["results/summary.json"],
    }


def test_every_input_is_used_and_documented() -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    below = TEXT.partition("\npermissions: {}")[2]

    for kind in ("inputs", "secrets"):
        for name in CALL[kind]:
            assert f"{kind}.{name}" in below, name
            assert f"`{name}`" in page, name


def test_the_callers_of_the_how_to_page_fit_the_workflow() -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    callers = [
        job
        for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
        for job in yaml.safe_load(block).get("jobs", {}).values()
        if "grade.yml" in job.get("uses", "")
    ]
    required = {name for name, each in CALL["inputs"].items() if each.get("required")}

    assert len(callers) >= 2
    for job in callers:
        assert required <= job["with"].keys() <= CALL["inputs"].keys()
        assert job.get("secrets", {}).keys() <= CALL["secrets"].keys()
        assert job["permissions"] == {"contents": "read"}


# --- what it does --------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Runner:
    """Runs the jobs of the workflow one after the other, each in an empty folder of its own.

    Args:
        root: where everything lies; `root/caller` is the calling repository.
        known: the values of the contexts, by their dotted names.
    """

    root: Path
    known: dict[str, Any]
    log: str = ""

    def job(self, name: str, **matrix: int) -> int:
        """The exit code of the first step that failed, 0 when none did."""
        folder = self.root / "-".join([name, *map(str, matrix.values())])
        folder.mkdir()
        self.known |= {f"matrix.{key}": value for key, value in matrix.items()}
        failed = 0
        for step in JOBS[name]["steps"]:
            condition = step.get("if", "${{ success() }}").strip("${} ")
            if condition == "success()" and failed:
                continue
            if condition.startswith("inputs.") and not (self.value(condition) and not failed):
                continue
            if "uses" in step:
                self._use(step, folder)
            elif "pip install" not in step["run"]:
                failed = failed or self._run(step, folder, name)
        return failed

    def value(self, expression: str) -> Any:
        """What an expression is worth: a name, `a || b`, or `a != ''`."""
        if " || " in expression:
            return next(filter(None, map(self.value, expression.split(" || "))), "")
        if expression.endswith(" != ''"):
            return self.value(expression.removesuffix(" != ''")) != ""
        return self.known[expression]

    def filled(self, text: object) -> str:
        """The text as the runner hands it to a step: true and false in lower case."""
        if isinstance(text, bool):
            return str(text).lower()
        return re.sub(
            r"\$\{\{ (.*?) \}\}", lambda match: self.filled(self.value(match[1])), str(text)
        )

    def _use(self, step: dict[str, Any], folder: Path) -> None:
        given = {key: self.filled(value) for key, value in step.get("with", {}).items()}
        match re.search(r"actions/([a-z-]+)@", step["uses"]):
            case None:
                raise AssertionError(step)
            case found if found[1] == "upload-artifact":
                self._upload(given, folder)
            case found if found[1] == "download-artifact":
                self._download(given, folder)
            case found if found[1] == "checkout" and given["path"] == "caller":
                shutil.copytree(self.root / "caller", folder / "caller")
            case found if given.get("path") == "course":
                shutil.copytree(self.root / "course", folder / "course")
            case found:
                assert found[1] in ("checkout", "setup-python")

    def _upload(self, given: dict[str, str], folder: Path) -> None:
        store = self.root / "artifacts" / given["name"]
        paths = [folder / each for each in given["path"].split()]
        if not any(path.exists() for path in paths):
            assert given["if-no-files-found"] == "ignore"
            return
        # As the action does: what all paths have in common is left out.
        if len(paths) == 1 and paths[0].is_dir():
            shutil.copytree(paths[0], store)
            return
        store.mkdir(parents=True)
        for path in paths:
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, store / path.name)

    def _download(self, given: dict[str, str], folder: Path) -> None:
        if "name" not in given:
            assert given["merge-multiple"] == "true"
        found = (self.root / "artifacts").glob(given.get("name") or given["pattern"])
        for artifact in sorted(found):
            shutil.copytree(artifact, folder / given["path"], dirs_exist_ok=True)

    def _run(self, step: dict[str, Any], folder: Path, job: str) -> int:
        script = self.root / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        output = self.root / f"output-{job}"
        output.touch()
        given = {**workflow()["env"], **step.get("env", {})}
        clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder,
            env={
                **clean,
                **{key: self.filled(value) for key, value in given.items()},
                "PATH": f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "COMMANDS": str(self.root / "commands"),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.root / "summary.md"),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self.log += done.stdout
        for line in output.read_text("utf-8").splitlines():
            key, _, value = line.partition("=")
            self.known[f"steps.{step.get('id')}.outputs.{key}"] = value
        return done.returncode

    def grade_commands(self) -> list[str]:
        return (self.root / "commands").read_text("utf-8").splitlines()


def a_runner(root: Path, **inputs: object) -> Runner:
    """A runner whose `grade` is this checkout's and keeps a list of what it was asked."""
    root.mkdir(exist_ok=True)
    (root / "bin").mkdir()
    command = root / "bin" / "grade"
    ours = f"PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -m grader"
    command.write_text(
        f'#!/bin/sh\necho "$1" >> "$COMMANDS"\n{ours} "$@"\n',
        encoding="utf-8",
    )
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    values = {name: each.get("default", "") for name, each in CALL["inputs"].items()} | inputs
    return Runner(
        root=root,
        known={
            **{f"inputs.{name}": value for name, value in values.items()},
            "secrets.seed": "",
            "secrets.assignments-token": "",
            "github.token": "",
            "github.repository": "us/class",
            "github.event.repository.private": True,
        },
    )


def shards_of(runner: Runner) -> list[int]:
    listed: list[int] = json.loads(runner.known["steps.plan.outputs.shards"])
    runner.known["strategy.job-total"] = len(listed)
    return listed


posix = pytest.mark.skipif(sys.platform == "win32", reason="the workflow runs on Linux")


@posix
def test_a_plan_draws_a_seed_of_128_bits_and_lists_the_shards(tmp_path: Path) -> None:
    seeds = set()
    for name in ("one", "two"):
        runner = a_runner(tmp_path / name, shards=3)
        assert runner.job("plan") == 0, runner.log
        seeds.add(int((tmp_path / name / "artifacts/torchgrade-plan/seed").read_text()))

    assert shards_of(runner) == [1, 2, 3]
    assert len(seeds) == 2
    assert all(2**63 <= seed < 10**40 for seed in seeds)
    assert not any(str(seed) in runner.log for seed in seeds)


@posix
def test_a_seed_that_was_given_is_the_seed(tmp_path: Path) -> None:
    runner = a_runner(tmp_path, shards=1)
    runner.known["secrets.seed"] = SEED

    assert runner.job("plan") == 0, runner.log
    assert (tmp_path / "artifacts/torchgrade-plan/seed").read_text() == f"{SEED}\n"
    assert shards_of(runner) == [1]


@posix
@pytest.mark.parametrize("shards", ["0", "101", "1.5", "-1", "", "2; echo hello", "$(echo 2)"])
def test_a_number_of_shards_that_is_none_is_refused(tmp_path: Path, shards: str) -> None:
    runner = a_runner(tmp_path, shards=shards)

    assert runner.job("plan") == 2
    assert runner.log.startswith("::error title=torchgrade::shards must be a whole number")


@posix
@pytest.mark.parametrize(
    ("private", "allowed", "code"),
    [(True, False, 0), (False, False, 1), (False, True, 0)],
)
def test_a_class_is_not_graded_in_public(
    tmp_path: Path, private: object, allowed: bool, code: int
) -> None:
    runner = a_runner(tmp_path, **{"allow-public": allowed})
    runner.known["github.event.repository.private"] = private

    assert runner.job("plan") == code
    assert (code == 1) == ("everybody could download the results" in runner.log)


@posix
@pytest.mark.parametrize("private", ["", "null", "maybe"])
def test_an_event_that_does_not_name_the_repository_opens_nothing(
    tmp_path: Path, private: str
) -> None:
    runner = a_runner(tmp_path)
    runner.known["github.event.repository.private"] = private

    assert runner.job("plan") == 1
    assert "GitHub does not say that this repository is private" in runner.log
    assert not (tmp_path / "artifacts").exists()


@posix
@pytest.mark.parametrize(
    ("answer", "code"), [("true", 0), ("false", 1), ("", 1), ("{}", 1), (None, 1)]
)
def test_where_the_event_is_silent_github_is_asked(
    tmp_path: Path, answer: str | None, code: int
) -> None:
    runner = a_runner(tmp_path)
    runner.known["github.event.repository.private"] = ""
    asked = tmp_path / "bin" / "gh"
    said = "exit 4" if answer is None else f"printf '%s\\n' '{answer}'"
    asked.write_text(f'#!/bin/sh\n[ "$2" = repos/us/class ] || exit 5\n{said}\n')
    asked.chmod(0o755)

    assert runner.job("plan") == code, runner.log
    assert (tmp_path / "artifacts").exists() is (code == 0)


def test_the_example_for_gitlab_keeps_the_parts_whatever_happens_and_publishes_nothing() -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    jobs = next(
        read
        for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
        if "image" in (read := yaml.safe_load(block))
    )

    assert all(jobs[name]["artifacts"]["when"] == "always" for name in ("grade", "merge"))
    assert all(jobs[name]["artifacts"]["access"] == "developer" for name in ("grade", "merge"))
    assert jobs["merge"]["when"] == "always"
    guard = jobs["before_script"][0]
    for visibility, code in (("private", 0), ("public", 1), ("internal", 1), ("", 1), (None, 1)):
        own = {} if visibility is None else {"CI_PROJECT_VISIBILITY": visibility}
        done = subprocess.run(["sh", "-c", guard], env={"PATH": os.environ["PATH"], **own})
        assert done.returncode == code, visibility


@posix
def test_private_assignments_travel_without_their_history(tmp_path: Path) -> None:
    course = tmp_path / "course"
    shutil.copytree(ROOT / "assignments" / "hw1_add_positions", course / "ours" / "hw1")
    (course / ".git").mkdir()
    runner = a_runner(
        tmp_path, **{"assignments-repository": "us/course", "assignments-folder": "ours"}
    )

    assert runner.job("plan") == 0, runner.log
    handed_on = tmp_path / "artifacts" / "torchgrade-plan"
    assert sorted(each.name for each in handed_on.iterdir()) == ["assignments", "seed"]
    assert (handed_on / "assignments" / "hw1" / "rubric.toml").is_file()


# --- the whole class -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """The example class, graded by the workflow on two machines."""
    root = tmp_path_factory.mktemp("runner")
    shutil.copytree(CLASS, root / "caller" / "submissions_example")
    runner = a_runner(root, submissions="submissions_example", shards=2)
    runner.known["secrets.seed"] = SEED
    assert runner.job("plan") == 0, runner.log
    for shard in shards_of(runner):
        code = runner.job("grade", shard=shard)
        if "--require full is not met" in runner.log:
            pytest.skip("the workflow refuses a machine without Landlock and seccomp")
        assert code == 0, runner.log
    assert runner.job("merge") == 0, runner.log
    return runner


@pytest.mark.long
@posix
def test_the_workflow_is_plain_grade_commands_in_this_order(graded: Runner) -> None:
    assert graded.grade_commands() == ["doctor", "batch", "doctor", "batch", "merge"]


@pytest.mark.long
@posix
def test_everybody_of_the_example_class_gets_the_score_that_is_expected(graded: Runner) -> None:
    artifacts = graded.root / "artifacts"
    run = json.loads((artifacts / "torchgrade-reports" / "run.json").read_bytes())
    rows = csv.DictReader(
        (artifacts / "torchgrade-scores" / "scores.csv").read_text("utf-8-sig").splitlines()
    )
    by_student = {row["student"]: row for row in rows}
    expected = {each["name"]: each for each in FILES}

    assert len(run["planned"]) >= 20
    for each in run["planned"]:
        row, id_ = by_student[each["student"]], each["assignment"]
        want = expected[Path(each["file"]).name][id_]
        assert (row[id_], row[f"{id_}_status"], row[f"{id_}_official"]) == (
            str(want["score"]),
            want["status"],
            "yes",
        )


@pytest.mark.long
@posix
def test_shards_give_what_one_run_over_the_class_gives(graded: Runner, tmp_path: Path) -> None:
    source = str(graded.root / "caller" / "submissions_example")
    whole = grade("batch", source, "--out", "out", "--seed", SEED, cwd=tmp_path)
    artifacts = graded.root / "artifacts"
    for view in ("reports", "feedback"):
        found = artifacts / f"torchgrade-{view}"
        shutil.copytree(found / view if view == "reports" else found, tmp_path / "merged" / view)

    assert whole.returncode == 1, err(whole)
    assert outcome(tmp_path / "merged") == outcome(tmp_path / "out")
    for name, artifact in (("scores.csv", "scores"), ("summary.json", "summary")):
        merged = (artifacts / f"torchgrade-{artifact}" / name).read_bytes()
        assert merged == (tmp_path / "out" / name).read_bytes()


@pytest.mark.long
@posix
def test_files_that_nobody_owns_are_a_warning_and_no_failure(graded: Runner) -> None:
    assert graded.log.count("::warning title=torchgrade::Some files could not be attributed") == 2


@pytest.mark.long
@posix
def test_summary_and_log_hold_counts_and_nobody(graded: Runner) -> None:
    summary = (graded.root / "summary.md").read_text("utf-8")
    run = json.loads((graded.root / "artifacts/torchgrade-reports/run.json").read_bytes())
    people = {each["student"] for each in run["students"]}
    files = {each["name"] for each in FILES}
    without_seed = graded.log.replace(f"::add-mask::{SEED}", "")

    assert "| Students | 23 |" in summary
    assert "| Files that could not be attributed | 9 |" in summary
    assert "### hw1  Add position vectors" in summary
    for text in (summary, without_seed):
        assert [each for each in people | files if re.search(rf"\b{re.escape(each)}\b", text)] == []
        assert SEED not in text


@pytest.mark.long
@posix
def test_feedback_holds_no_seed_and_nothing_of_hidden_tests(graded: Runner) -> None:
    for path in (graded.root / "artifacts" / "torchgrade-feedback").rglob("*.json"):
        report = json.loads(path.read_bytes())
        assert (report["audience"], report["run"]["seed"]) == ("student", None)
        assert all(each["visibility"] == "shown" for each in report["tests"])


@posix
def test_inputs_are_passed_as_typed_and_never_run(tmp_path: Path) -> None:
    """Every value that a shell would take apart arrives in one piece."""
    nasty = "a b'$(touch injected)`touch injected`;*"
    (tmp_path / "caller" / nasty).mkdir(parents=True)
    inputs = ("roster", "until", "student-pattern", "assignments-folder", "submissions")
    runner = a_runner(tmp_path, assignment="hw1 *", shards=1, **dict.fromkeys(inputs, nasty))
    command = tmp_path / "bin" / "grade"
    command.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "open(os.environ['COMMANDS'], 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n",
        encoding="utf-8",
    )
    assert runner.job("plan") == 0, runner.log
    [shard] = shards_of(runner)

    assert runner.job("grade", shard=shard) == 0, runner.log
    seed = (tmp_path / "artifacts/torchgrade-plan/seed").read_text().strip()
    assert json.loads(runner.grade_commands()[1]) == [
        "batch",
        f"caller/{nasty}",
        "--out=parts/1",
        f"--seed={seed}",
        "--shard=1/1",
        "--assignment=hw1",
        "--assignment=*",
        f"--assignments=caller/{nasty}",
        f"--roster=caller/{nasty}",
        f"--until={nasty}",
        f"--student-pattern={nasty}",
    ]
    assert list(tmp_path.rglob("injected")) == []


@posix
@pytest.mark.parametrize(("code", "end"), [(0, 0), (1, 0), (2, 2), (3, 3), (130, 130)])
def test_only_unattributed_files_do_not_fail_the_run(tmp_path: Path, code: int, end: int) -> None:
    runner = a_runner(tmp_path, shards=1)
    (tmp_path / "caller").mkdir()
    command = tmp_path / "bin" / "grade"
    command.write_text(f'#!/bin/sh\n[ "$1" = doctor ] || exit {code}\n', encoding="utf-8")
    assert runner.job("plan") == 0, runner.log
    shards_of(runner)

    assert runner.job("grade", shard=1) == end
    assert ("::warning" in runner.log) == (code == 1)
    # Whatever happened, what is there can be looked at.
    assert (tmp_path / "artifacts" / "torchgrade-part-1" / "1" / "screen.txt").is_file()
