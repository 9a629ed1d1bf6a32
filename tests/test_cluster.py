"""`grade batch --engine dask`: real schedulers and real worker processes, on loopback."""

import contextlib
import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest
from distributed import Reschedule
from test_bulk_engine import CODE, a_job
from test_cli import LOCALE, ROOT, err
from test_cli import grade as any_grade
from test_cli_batch import (
    PATTERN,
    RIGHT,
    USUAL,
    a_class,
    course,
    grade,
    many,
    outcome,
    scores,
    wait_for_reports,
)

from grader.bulk import cluster_client, cluster_worker, engine
from grader.bulk.cluster import CHUNK_S, FIRST_CHUNK, MOST_IN_CHUNK, chunk_size
from grader.bulk.cluster_client import address_problem
from grader.bulk.cluster_terms import (
    ClusterFailed,
    Difference,
    Fitness,
    Identity,
    Terms,
    differences,
    refuse_unfit,
)
from grader.grading import Settings
from grader.model import OpenedFile

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses signals")

# A class on which workers are busy long enough to be disturbed.
SLOW = RIGHT.replace("import torch\n", "import time\nimport torch\n\ntime.sleep(0.2)\n")


# --- a cluster by hand -----------------------------------------------------------------------


@dataclass
class Cluster:
    """A scheduler and workers in processes of their own."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *options: str) -> None:
        told = self.folder / "scheduler.json"
        self.scheduler = self._dask(
            *("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            *("--scheduler-file", str(told), *options),
        )
        self.address = str(json.loads(waited(self.scheduler, lambda: text(told)))["address"])

    def add(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """A worker; the grader waits for it, so nobody does here."""
        worker = self._dask(
            *("worker", self.address, "--host", "127.0.0.1", "--no-dashboard"),
            *("--local-directory", str(self.folder), "--death-timeout", "60"),
            *(options or ("--nthreads", "1")),
            *(() if "--nanny" in options else ("--no-nanny",)),
            **environment,
        )
        self.workers.append(worker)
        return worker

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None:
                process.kill()
                process.communicate()

    def _dask(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments],
                cwd=self.folder,
                env={
                    **os.environ,
                    "PYTHONPATH": str(ROOT),
                    "TMPDIR": str(self.folder),
                    "GRADE_ASSIGNMENTS": course(),
                    **self.environment,
                    **environment,
                },
                stdout=log,
                stderr=log,
            )


def text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def waited(process: subprocess.Popen[bytes], found: Callable[[], str]) -> str:
    """What is found before the process ends, by looking again and again."""
    while not (seen := found()) and process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
    return seen


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (tmp_path / "cluster").mkdir()
    made = Cluster(folder=tmp_path / "cluster")
    made.start()
    yield made
    made.end()


def started(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
    return subprocess.Popen(
        [sys.executable, "-m", "grader", *arguments],
        cwd=cwd,
        env={**clean, "PYTHONPATH": str(ROOT), "GRADE_ASSIGNMENTS": course(), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def said(text: str) -> str:
    """Without the line breaks of the screen."""
    return " ".join(text.split())


_STOPPED = "Stopped. What was graded is kept: the same command continues."
BATCH = ("batch", "in", "--out", "out", *USUAL, "--engine", "dask")
# --- in this process -------------------------------------------------------------------------


def an_identity(**changed: object) -> Identity:
    made = Identity(
        grader_version="1.0", python="3.11.9", torch="2.13.0", digests={"hw1": "a" * 64}
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def some_terms(**changed: object) -> Terms:
    made = Terms(
        settings=Settings(),
        identity=an_identity(),
        planned=("hw1",),
        folder=None,
        ours=False,
        guarded=False,
        demanded="any",
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def refused(found: Fitness, terms: Terms) -> str:
    with pytest.raises(ClusterFailed) as raised:
        refuse_unfit(found, terms, address="tcp://10.0.0.5:8786")
    return said(str(raised.value))


def test_chunks_begin_small_grow_with_the_pace_and_end_small() -> None:
    assert chunk_size(None, 1000, 2) == FIRST_CHUNK
    assert chunk_size(CHUNK_S / 10, 1000, 2) == 10
    assert chunk_size(0.0, 10**6, 2) == MOST_IN_CHUNK
    assert chunk_size(10 * CHUNK_S, 1000, 2) == 1
    assert chunk_size(0.01, 8, 2) == 2
    assert chunk_size(0.01, 1, 50) == 1
    assert chunk_size(0.01, 0, 0) == 1


def test_a_worker_may_have_more_assignments_and_must_have_the_same() -> None:
    here = an_identity(digests={"hw1": "a" * 64, "hw2": "b" * 64})
    there = an_identity(digests={"hw1": "a" * 64, "hw2": "c" * 64, "hw3": "d" * 64}, torch="2.9")

    assert differences(here, here, nthreads=1) == ()
    assert differences(here, there, nthreads=4) == (
        Difference(what="torch", here="2.13.0", there="2.9"),
        Difference(what="nthreads", here="1", there="4"),
        Difference(what="hw2", here="b" * 12, there="c" * 12),
    )
    none = differences(here, an_identity(), nthreads=1)
    assert none == (Difference(what="hw2", here="b" * 12, there="-"),)


def test_a_refusal_names_worker_and_both_values() -> None:
    terms = some_terms()
    version = Difference(what="torch", here="2.13.0", there="2.9")
    threads = Difference(what="nthreads", here="1", there="4")

    differs = refused(Fitness(worker="node7", differences=(version,)), terms)
    many_threads = refused(Fitness(worker="node7", differences=(threads,)), terms)
    broken = refused(Fitness(worker="node7", problem="no fork"), terms)
    assert "Worker node7 would not give the same reports: torch is 2.13.0 here and 2.9" in differs
    assert "Worker node7 has 4 threads." in many_threads
    assert "The judge of worker node7 does not work: no fork" in broken


def test_reduced_is_refused_where_anybody_could_give_orders() -> None:
    found = Fitness(worker="node7", level="reduced", layers=("process",))

    demanded = refused(found, some_terms(demanded="full", guarded=True))
    unguarded = refused(found, some_terms(demanded="any", guarded=False))
    assert "Worker node7 locks submissions in only at the level 'reduced'" in demanded
    assert "tcp://10.0.0.5:8786 is not guarded by TLS" in unguarded
    refuse_unfit(found, some_terms(demanded="any", guarded=True), address="tls://10.0.0.5:8786")
    full = replace(found, level="full")
    refuse_unfit(full, some_terms(demanded="full", guarded=False), address="tcp://10.0.0.5:8786")


@dataclass
class FakeJudge:
    """Says when it is closed."""

    closed: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        self.closed.set()


def a_post(judge: FakeJudge) -> cluster_worker.Post:
    return cluster_worker.Post(
        terms=some_terms(),
        fitness=Fitness(worker="node7", level="full"),
        assignments={},
        judge=judge,  # type: ignore[arg-type]
    )


def test_a_judge_that_nobody_needs_any_more_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_worker, "IDLE_S", 0.01)
    judge = FakeJudge()

    found = a_post(judge).graded(())
    assert found.results == ()
    assert judge.closed.wait(60)


def test_a_worker_that_is_closing_leaves_its_chunk_to_others() -> None:
    post = a_post(FakeJudge())
    post.close()

    with pytest.raises(Reschedule):
        post.graded(())


def test_nothing_that_travels_names_a_student_a_file_or_a_date() -> None:
    job = a_job("Lee")
    opened = OpenedFile(submission=engine.handed_in(job), content=CODE)
    task = engine.Task(assignment=job.assignment, opened=opened)
    travelling = pickle.dumps((some_terms(), (task,)))

    assert CODE in travelling
    for private in ("Lee", "secret name", "2026-03-01"):
        assert private.encode() not in travelling


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("tcp://10.0.0.5:8786", None),
        ("tls://[::1]:8786", None),
        ("localhost:8786", None),
        ("localhost", "missing port number"),
        ("", "missing port number"),
        ("http://localhost:8786", "http:// is none of"),
        ("localhost:99999", "99999 is no port"),
        ("a:b:c", "maybe: ipv6 needs brackets"),
        ("localhost:port", "invalid literal"),
    ],
)
def test_an_address_is_understood_before_anything_is_tried(
    address: str, problem: str | None
) -> None:
    found = address_problem(address)

    assert (found is None) == (problem is None)
    assert problem is None or problem in str(found)


# --- what is refused as typed ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "Add --engine dask"),
        (["--engine", "dask", "--scheduler", "nowhere"], "not 'nowhere': missing port number"),
        (
            ["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"],
            "leave --jobs or --scheduler out",
        ),
    ],
)
def test_what_no_cluster_can_do_is_a_usage_error(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    many(tmp_path / "in", 1)

    result = grade("batch", "in", "--out", "out", *arguments, cwd=tmp_path)
    assert (result.returncode, message in said(err(result))) == (2, True), err(result)


def here(program: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GRADE_LANG": "en"},
        capture_output=True,
        check=False,
    )


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    many(tmp_path / "in", 1)
    arguments = ["batch", "in", "--out", "out", "--engine", "dask"]
    program = (
        "import sys; sys.modules['distributed'] = None; from grader.cli.entry import run;"
        f" sys.exit(run({arguments}))"
    )

    result = here(program, tmp_path)
    assert result.returncode == 2
    assert "Install it with: pip install 'torchgrade[cluster]'" in said(err(result))
    assert not (tmp_path / "out").exists()


def test_only_the_engine_that_needs_dask_imports_it(tmp_path: Path) -> None:
    program = (
        "import sys; from grader.cli.entry import run; run(['batch', '--help']);"
        " import grader.bulk.batch, grader.bulk.cluster_terms;"
        " print({'dask', 'distributed', 'torch'} & set(sys.modules), file=sys.stderr)"
    )
    engine = (
        "import sys; import grader.bulk.cluster;"
        " print({'torch', 'pytest'} & set(sys.modules), file=sys.stderr)"
    )

    assert err(here(program, tmp_path)) == "set()\n"
    assert err(here(engine, tmp_path)) == "set()\n"


# --- a cluster on this machine ---------------------------------------------------------------


def remains(folder: Path) -> list[str]:
    """What a run may leave nowhere: folders of Dask, processes whose files are below `folder`."""
    dask = [str(path) for path in folder.rglob("*dask*")]
    processes = [
        f"{each.pid} {each.info['cmdline']}"
        for each in psutil.process_iter(["cmdline", "cwd"])
        if str(each.info["cwd"] or "").startswith(str(folder))
    ]
    return dask + processes


@pytest.mark.long
def test_a_local_cluster_gives_the_reports_of_the_local_engine(tmp_path: Path) -> None:
    a_class(tmp_path / "in")
    # Beside the submissions: what Dask's processes would import first, if they looked here.
    for name in ("pickle", "random", "multiprocessing", "socket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    common = (*USUAL, *PATTERN, "--seed", "7")
    local = grade("batch", "in", "--out", "local", *common, cwd=tmp_path)

    process = started(
        *("batch", "in", "--out", "out", *common, "--engine", "dask", "--jobs", "2"),
        cwd=tmp_path,
        env={"TMPDIR": str(tmp_path / "tmp")},
    )
    shown, complaints = process.communicate()

    assert (local.returncode, process.returncode) == (0, 0), complaints.decode()
    assert outcome(tmp_path / "out") == outcome(tmp_path / "local")
    for name in ("scores.csv", "summary.json"):
        content = (tmp_path / "local" / name).read_bytes()
        assert (tmp_path / "out" / name).read_bytes() == content
    assert "hw1: 7 graded, 1 unreadable" in shown.decode()
    # Dask, its workers and their judges are silent, and leave nothing.
    assert "8 of 8 graded" in complaints.decode().splitlines()[-1]
    # The seed that can be guessed, how the folder was understood, and one line of progress.
    assert len(complaints.decode().splitlines()) <= 5
    assert remains(tmp_path) == []
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.long
def test_a_local_cluster_that_is_interrupted_ends_clean_and_continues(tmp_path: Path) -> None:
    slow_class(tmp_path / "in", 30)
    (tmp_path / "tmp").mkdir()
    process = started(*BATCH, "--jobs", "2", cwd=tmp_path, env={"TMPDIR": str(tmp_path / "tmp")})
    wait_for_reports(process, tmp_path / "out", 3)
    # As a terminal does: to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    _, complaints = process.communicate()
    left = outcome(tmp_path / "out")

    result = grade(*BATCH, "--jobs", "2", cwd=tmp_path)

    assert process.returncode == 130
    assert complaints.decode().splitlines()[-1] == _STOPPED
    assert "Traceback" not in complaints.decode()
    assert list((tmp_path / "tmp").iterdir()) == []
    assert remains(tmp_path) == []
    assert 6 <= len(left) < 60
    assert result.returncode == 0, err(result)
    assert "were graded by an earlier run and still hold" in err(result)
    assert {key: outcome(tmp_path / "out")[key] for key in left} == left


@pytest.mark.long
def test_an_interruption_while_the_cluster_starts_is_as_silent(tmp_path: Path) -> None:
    many(tmp_path / "in", 1)
    (tmp_path / "tmp").mkdir()
    process = started(*BATCH, cwd=tmp_path, env={"TMPDIR": str(tmp_path / "tmp")})
    waited(process, lambda: "begun" if psutil.Process(process.pid).children() else "")
    os.killpg(process.pid, signal.SIGINT)
    shown, complaints = process.communicate()

    assert process.returncode == 130
    assert shown == b""
    assert complaints.decode().splitlines()[-1] == _STOPPED
    assert "Traceback" not in complaints.decode()
    assert list((tmp_path / "tmp").iterdir()) == []
    assert remains(tmp_path) == []


def slow_class(root: Path, number: int) -> Path:
    root.mkdir()
    for index in range(number):
        (root / f"s{index:03}_hw1.py").write_text(f"# {index}\n{SLOW}", encoding="utf-8")
    return root


# --- a scheduler and workers by hand ---------------------------------------------------------


def by_hand(cluster: Cluster) -> tuple[str, ...]:
    return (*BATCH, "--scheduler", cluster.address)


@pytest.mark.long
def test_a_worker_that_is_killed_costs_nobody_a_report(cluster: Cluster, tmp_path: Path) -> None:
    slow_class(tmp_path / "in", 16)
    (tmp_path / "tmp").mkdir()
    first = cluster.add()
    cluster.add()
    process = started(*by_hand(cluster), cwd=tmp_path, env={"TMPDIR": str(tmp_path / "tmp")})
    wait_for_reports(process, tmp_path / "out", 3)
    judges = psutil.Process(first.pid).children(recursive=True)
    first.kill()
    _, complaints = process.communicate()

    assert process.returncode == 0, complaints.decode()
    assert set(scores(tmp_path / "out").values()) == {"10"}
    assert len(outcome(tmp_path / "out")) == 32
    # The judge of the dead worker noticed; that of the other ended with the run.
    assert psutil.wait_procs(judges, timeout=30)[1] == []
    assert len(judges) >= 2
    assert psutil.Process(cluster.workers[1].pid).children() == []
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.long
def test_a_client_that_is_killed_is_continued(cluster: Cluster, tmp_path: Path) -> None:
    slow_class(tmp_path / "in", 12)
    cluster.add()
    process = started(*by_hand(cluster), cwd=tmp_path)
    wait_for_reports(process, tmp_path / "out", 3)
    process.kill()
    process.communicate()
    left = outcome(tmp_path / "out")

    result = grade(*by_hand(cluster), cwd=tmp_path)

    assert 6 <= len(left) < 24
    assert result.returncode == 0, err(result)
    assert "were graded by an earlier run and still hold" in err(result)
    found = outcome(tmp_path / "out")
    assert len(found) == 24
    assert {key: found[key] for key in left} == left


@pytest.mark.long
def test_a_scheduler_that_dies_ends_the_run_and_keeps_what_was_graded(
    cluster: Cluster, tmp_path: Path
) -> None:
    slow_class(tmp_path / "in", 12)
    cluster.add()
    process = started(*by_hand(cluster), cwd=tmp_path)
    wait_for_reports(process, tmp_path / "out", 3)
    assert cluster.scheduler is not None
    cluster.scheduler.kill()
    _, complaints = process.communicate()

    assert process.returncode == 3
    told = said(complaints.decode())
    # Then why, which depends on what was under way: a lost connection, or a refused one.
    assert f"The scheduler at {cluster.address} is gone, or no longer does its work: " in told
    assert "Run the same command again: it continues." in told
    assert "Traceback" not in told
    assert len(outcome(tmp_path / "out")) >= 6


@pytest.mark.long
def test_a_worker_that_does_not_fit_is_named_before_anything_is_graded(
    cluster: Cluster, tmp_path: Path
) -> None:
    many(tmp_path / "in", 1)
    (tmp_path / "fake" / "torch-9.9.dist-info").mkdir(parents=True)
    (tmp_path / "fake" / "torch-9.9.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: torch\nVersion: 9.9\n", encoding="utf-8"
    )

    def told(worker: subprocess.Popen[bytes], **environment: str) -> str:
        result = any_grade(*by_hand(cluster), cwd=tmp_path, env=environment)
        worker.kill()
        worker.communicate()
        assert result.returncode == 3
        return said(err(result))

    threads = told(cluster.add("--nthreads", "2", "--name", "wide"), GRADE_ASSIGNMENTS=course())
    path = os.pathsep.join([str(tmp_path / "fake"), str(ROOT)])
    versions = told(cluster.add(PYTHONPATH=path), GRADE_ASSIGNMENTS=course())
    # The client has those of the checkout, the worker hw1 alone.
    digests = told(cluster.add())

    assert "Worker wide (tcp://127.0.0.1:" in threads
    assert "has 2 threads. A worker has one judge" in threads
    assert "would not give the same reports: torch is 2." in versions
    assert "here and 9.9 there." in versions
    assert "would not give the same reports: hw2 is " in digests
    assert "here and - there." in digests
    assert not (tmp_path / "out" / "reports").exists()


def test_an_open_sandbox_needs_a_guarded_scheduler(cluster: Cluster, tmp_path: Path) -> None:
    many(tmp_path / "in", 1)
    cluster.add()

    result = grade(*by_hand(cluster), "--sandbox", "portable", cwd=tmp_path)

    told = said(err(result))
    assert result.returncode == 3
    assert "locks submissions in only at the level 'reduced'" in told
    assert f"{cluster.address} is not guarded by TLS" in told
    assert not (tmp_path / "out" / "reports").exists()


def test_no_worker_runs_anything_in_a_weaker_sandbox_than_demanded(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    marker = tmp_path / "was-run"
    (tmp_path / "in" / "lee_hw1.py").write_text(f"open({str(marker)!r}, 'w')\n{RIGHT}")
    cluster.add()
    command = [each for each in by_hand(cluster) if each != "--allow-reduced"]

    result = grade(*command, "--sandbox", "portable", cwd=tmp_path)

    assert result.returncode == 3
    assert "locks submissions in only at the level 'reduced'" in said(err(result))
    assert not marker.exists()
    assert not (tmp_path / "out" / "reports").exists()


@pytest.mark.long
def test_an_open_sandbox_gets_no_cluster_of_its_own(tmp_path: Path) -> None:
    many(tmp_path / "in", 1)
    options = ("--engine", "dask", "--sandbox", "portable", "--allow-reduced")

    result = grade("batch", "in", "--out", "out", *options, cwd=tmp_path)

    told = said(err(result))
    assert result.returncode == 3
    assert "is not guarded by TLS" in told
    assert "Use --engine local" in told
    assert not (tmp_path / "out" / "reports").exists()


@pytest.fixture
def certificates(tmp_path: Path) -> dict[str, str]:
    """Dask's settings for TLS with a certificate that vouches for itself."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command to make certificates with")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=torchgrade"),
            *("-addext", "keyUsage=critical,digitalSignature,keyCertSign"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    roles = ("SCHEDULER", "WORKER", "CLIENT")
    return {
        f"{tls}CA_FILE": str(certificate),
        **{f"{tls}{role}__CERT": str(certificate) for role in roles},
        **{f"{tls}{role}__KEY": str(key) for role in roles},
    }


@pytest.mark.long
def test_with_certificates_an_open_sandbox_is_accepted(
    certificates: dict[str, str], tmp_path: Path
) -> None:
    many(tmp_path / "in", 3)
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(folder=tmp_path / "cluster", environment=certificates)
    try:
        cluster.start("--protocol", "tls")
        cluster.add()
        course_and_tls = {"GRADE_ASSIGNMENTS": course(), **certificates}
        with_them = any_grade(
            *by_hand(cluster), "--sandbox", "portable", cwd=tmp_path, env=course_and_tls
        )
        without = grade(*by_hand(cluster), "--fresh", cwd=tmp_path)
    finally:
        cluster.end()

    assert cluster.address.startswith("tls://")
    assert with_them.returncode == 0, err(with_them)
    assert set(scores(tmp_path / "out").values()) == {"10"}
    assert without.returncode == 3
    told = said(err(without))
    assert f"{cluster.address} is guarded by TLS, and Dask has no certificates on this" in told


def test_a_scheduler_without_workers_is_given_up(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_client, "FIRST_WORKER_S", 0.2)

    with (
        cluster_client.quiet(debug=False),
        cluster_client.connected(cluster.address) as client,
        pytest.raises(ClusterFailed) as raised,
        cluster_client.prepared(client, some_terms(), cluster.address),
    ):
        pass
    assert f"The scheduler at {cluster.address} has no worker" in str(raised.value)


@pytest.mark.long
def test_a_worker_that_comes_later_and_does_not_fit_grades_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    slow_class(tmp_path / "in", 60)
    cluster.add()
    process = started(*by_hand(cluster), cwd=tmp_path)
    wait_for_reports(process, tmp_path / "out", 1)
    cluster.add("--nthreads", "2", "--name", "wide")
    _, complaints = process.communicate()

    assert process.returncode == 3
    assert "Worker wide (tcp://127.0.0.1:" in said(complaints.decode())
    assert 2 <= len(outcome(tmp_path / "out")) < 120


@pytest.mark.long
def test_what_kills_its_workers_is_lost_and_costs_nobody_else(tmp_path: Path) -> None:
    slow_class(tmp_path / "in", 6)
    (tmp_path / "in" / "s003_hw1.py").write_text(f"{RIGHT}# kills the worker\n", encoding="utf-8")
    # No submission can do this: it takes a fault of the grader, which is put in here.
    (tmp_path / "fault").mkdir()
    (tmp_path / "fault" / "sitecustomize.py").write_text(
        "import os\n"
        "from grader.bulk import engine\n"
        "grade_one = engine.grade_one\n"
        "def fatal(reading, *rest, **more):\n"
        "    if any('kills the worker' in each.text for each in reading.passages):\n"
        "        os._exit(9)\n"
        "    return grade_one(reading, *rest, **more)\n"
        "engine.grade_one = fatal\n",
        encoding="utf-8",
    )
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(
        folder=tmp_path / "cluster",
        environment={
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
            "PYTHONPATH": os.pathsep.join([str(tmp_path / "fault"), str(ROOT)]),
        },
    )
    try:
        cluster.start()
        cluster.add("--nthreads", "1", "--nanny")
        result = grade(*by_hand(cluster), cwd=tmp_path)
    finally:
        cluster.end()

    given = scores(tmp_path / "out")
    assert result.returncode == 3
    assert given.pop("s003") == ""
    assert set(given.values()) == {"10"}
    assert len(given) == 5
    assert "the workers that graded it died" in text(tmp_path / "out" / "failures.log")


@pytest.mark.long
def test_an_address_where_nobody_answers_is_given_up(tmp_path: Path) -> None:
    many(tmp_path / "in", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        result = grade(*BATCH, "--scheduler", address, cwd=tmp_path)

    assert result.returncode == 3
    # Refused at once, and tried until the time is up: which of the two is told is chance.
    assert f"No Dask scheduler answers at {address}: " in said(err(result))
    assert "Traceback" not in err(result)
    assert not (tmp_path / "out" / "reports").exists()
