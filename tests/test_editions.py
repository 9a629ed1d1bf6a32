"""What a release holds: the student edition, without anything that only staff may see."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STUDENT_FILES = (
    "assignment.toml",
    "rubric.toml",
    "texts.toml",
    "handout.md",
    "handout.zh.md",
    "template.py",
    "template.zh.py",
    "diagnosis.json",
    "suite/test_public.py",
    "suite/public_values.json",
)
SDIST_FILES = ("CHANGELOG.md", "LICENSE", "README.md", "README.zh.md", "constraints.txt")
# Hatchling adds these to every sdist.
ADDED_BY_THE_BUILD = (".gitignore", "PKG-INFO", "pyproject.toml")
STAFF_ONLY = (
    "hidden",
    "reference.py",
    "gallery",
    "misconceptions.toml",
    "tests/",
    "submissions_example",
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel of this checkout."""
    folder = tmp_path_factory.mktemp("release")
    build(ROOT, folder)
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel_of_the_sdist(
    release: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("again")
    with tarfile.open(release[0]) as archive:
        archive.extractall(folder, filter="data")
    build(next(folder.iterdir()), folder / "dist", "wheel")
    return next((folder / "dist").glob("*.whl"))


def test_the_wheel_holds_the_package_and_what_students_may_see(
    release: tuple[Path, Path],
) -> None:
    names = wheel_names(release[1])

    assert package_files() | student_edition("grader/student_edition") == names


def test_the_sdist_holds_the_package_and_what_students_may_see(
    release: tuple[Path, Path],
) -> None:
    names = sdist_names(release[0])

    own = package_files() | student_edition("assignments") | set(SDIST_FILES)
    assert own | set(ADDED_BY_THE_BUILD) == names


def test_neither_holds_anything_for_staff(release: tuple[Path, Path]) -> None:
    names = sdist_names(release[0]) | wheel_names(release[1])

    assert [name for name in sorted(names) for word in STAFF_ONLY if word in name.lower()] == []


def test_the_wheel_of_the_sdist_is_the_wheel(
    release: tuple[Path, Path], wheel_of_the_sdist: Path
) -> None:
    direct, again = contents(release[1]), contents(wheel_of_the_sdist)

    assert direct == again


def test_texts_schemas_and_the_typing_marker_are_packaged(release: tuple[Path, Path]) -> None:
    names = wheel_names(release[1])

    assert {
        "grader/py.typed",
        "grader/schemas/report-v1.schema.json",
        "grader/texts/en.toml",
        "grader/texts/zh.toml",
    } <= names


@pytest.mark.long
def test_the_wheel_grades_a_numpy_submission_in_a_fresh_environment(
    release: tuple[Path, Path], tmp_path: Path
) -> None:
    grade = installed(release[1], tmp_path / "venv")
    work = tmp_path / "work"
    work.mkdir()

    listed = run(grade, "list", folder=work)
    started = run(grade, "start", "hw1", "--format", "py", folder=work)
    fill_in(work / "hw1.py")
    checked = run(grade, "check", "hw1.py", folder=work)

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert (listed.returncode, started.returncode) == (0, 0)
    assert [folder.name.split("_")[0] for folder in assignment_folders()] == [
        line.split()[0] for line in listed.stdout.splitlines()
    ]
    assert checked.stdout.rstrip().endswith("hw1: 10 of 10 so far")
    assert "hidden tests" in checked.stdout


# --- rules ---------------------------------------------------------------------------------


def assignment_folders() -> list[Path]:
    return sorted(each.parent for each in (ROOT / "assignments").glob("*/assignment.toml"))


def student_edition(prefix: str) -> set[str]:
    return {
        f"{prefix}/{folder.name}/{name}"
        for folder in assignment_folders()
        for name in STUDENT_FILES
        if (folder / name).exists()
    }


def package_files() -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "grader").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def wheel_names(wheel: Path) -> set[str]:
    return {name for name in contents(wheel) if ".dist-info/" not in name}


def sdist_names(sdist: Path) -> set[str]:
    with tarfile.open(sdist) as archive:
        return {each.name.partition("/")[2] for each in archive.getmembers() if each.isfile()}


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# --- doing ---------------------------------------------------------------------------------


def build(root: Path, target: Path, *kinds: str) -> None:
    """Build into `target` with the installed hatchling: no network, nothing left in `root`."""
    options = [part for kind in kinds or ("sdist", "wheel") for part in ("-t", kind)]
    command = [sys.executable, "-m", "hatchling", "build", *options, "-d", str(target)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(done.stdout + done.stderr)


def installed(wheel: Path, home: Path) -> Path:
    """The command `grade` of a new environment that holds only the wheel.

    The dependencies of the running interpreter are made visible by a path file. An editable
    installation that stands beside them is not: path files are not followed from there.
    """
    venv.create(home, with_pip=False)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    # An environment may stand on another one, by a path file of its own.
    folders = [each for each in sys.path if Path(each).name in ("site-packages", "dist-packages")]
    path_file = Path(site.stdout.strip()) / "dependencies.pth"
    path_file.write_text("\n".join(folders) + "\n", "utf-8")
    return scripts / ("grade.exe" if os.name == "nt" else "grade")


def fill_in(script: Path) -> None:
    blank = 'final_vectors = """your code here"""'
    total = "numpy.add(token_vectors.numpy(), position_vectors.numpy())"
    text = script.read_text("utf-8")
    if blank not in text:
        pytest.fail(f"the template has no line {blank!r}")
    filled = text.replace(blank, f"final_vectors = torch.from_numpy({total})")
    script.write_text("import numpy\n" + filled, "utf-8")


def run(grade: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    own = {"GRADE_LANG": "en", "HOME": str(folder), "USERPROFILE": str(folder)}
    return subprocess.run(
        [grade, *arguments],
        cwd=folder,
        env=kept | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
