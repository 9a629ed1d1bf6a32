"""Reading assignments: what is taken, what is refused and how it is said."""

import tomllib
from pathlib import Path

import jsonschema
import pytest
from builders import ASSIGNMENT_TOML, RUBRIC_TOML, an_assignment, an_assignment_folder

from grader import assignment
from grader.assignment import digest_of, find_all, load, search_folders
from grader.errors import AssignmentError, UsageProblem
from grader.model import EntryPoint, Limits, Parameter, Result
from grader.validation import schema

SHIPPED = sorted((Path(__file__).resolve().parent.parent / "assignments").glob("*/rubric.toml"))


def problems_of(parent: Path, **files: str | bytes) -> list[str]:
    with pytest.raises(AssignmentError) as caught:
        an_assignment(parent, **files)
    return list(caught.value.problems)


def test_everything_in_the_two_files_is_read(tmp_path: Path) -> None:
    hw4 = an_assignment(tmp_path)

    assert (hw4.id, hw4.version, hw4.edition, hw4.hints) == ("hw4", "1.0", "student", True)
    assert (hw4.title.code, hw4.title.zh) == ("hw4.title", "旋转位置编码")
    assert hw4.variables == {"rotated": "apply_rope"}
    assert hw4.limits == Limits(call_s=1.5, memory_mib=512)
    assert hw4.entry_points[0] == EntryPoint(
        name="apply_rope",
        parameters=(
            Parameter(name="x", kind="tensor"),
            Parameter(name="positions", kind="tensor", optional=True),
            Parameter(name="base", kind="number", optional=True),
        ),
        result=Result(kind="tensor", like="x"),
    )
    assert [each.id for each in hw4.criteria] == ["turning", "pairing", "base"]
    assert hw4.criteria[1].title.code == "hw4.criterion.pairing"
    assert hw4.criteria[1].needs == ("turning",)
    assert hw4.max_score == 7


def test_a_missing_chinese_title_falls_back_to_english(tmp_path: Path) -> None:
    title = an_assignment(tmp_path).criteria[2].title

    assert (title.en, title.zh) == ("The base is used", "The base is used")


def test_limits_and_variables_may_be_left_out(tmp_path: Path) -> None:
    short = ASSIGNMENT_TOML.split("[limits]")[0].replace(
        'variables = { rotated = "apply_rope" }\nhints = true\n', ""
    )

    hw4 = an_assignment(tmp_path, assignment_toml=short)

    assert (hw4.limits, hw4.variables, hw4.hints) == (Limits(), {}, True)


def test_a_course_that_names_no_packages_is_told_from_one_that_uses_none(tmp_path: Path) -> None:
    line = 'packages = ["numpy", "scikit-learn"]\n'

    named = an_assignment(tmp_path / "named")
    silent = an_assignment(tmp_path / "silent", assignment_toml=ASSIGNMENT_TOML.replace(line, ""))
    none = ASSIGNMENT_TOML.replace('"numpy", "scikit-learn"', "")
    torch_alone = an_assignment(tmp_path / "none", assignment_toml=none)

    assert [each.packages for each in (named, silent, torch_alone)] == [
        ("numpy", "scikit-learn"),
        None,
        (),
    ]


def test_the_hidden_suite_makes_it_the_staff_edition(tmp_path: Path) -> None:
    hw4 = an_assignment(tmp_path, **{"suite/test_hidden.py": ""})

    assert hw4.edition == "staff"


# Each line of a file that is wrong in one way, and the sentence that it gets.
WRONG_ASSIGNMENTS = [
    ('id = "hw4"', 'id = "HW 4"', 'id: expected lower-case letters, digits, - and _, a letter'
     ' first, at most 64, got "HW 4"'),
    ('id = "hw4"', 'id = "con"', 'id: expected lower-case letters, digits, - and _, a letter'
     ' first, at most 64, got "con"'),
    ('id = "hw4"', "", 'the key "id" is missing'),
    ('version = "1.0"', "version = 1.0", "version: expected one line of text, got 1.0"),
    ('version = "1.0"', 'verison = "1.0"', 'unknown key "verison"; did you mean "version"?'),
    ("hints = true", "hints = 1", "hints: expected true or false, got 1"),
    ('"scikit-learn"', '"scikit-learn>=1.5"', "packages[1]: expected a package's name, as it is"
     ' installed or imported, got "scikit-learn>=1.5"'),
    ('"scikit-learn"', "1", "packages[1]: expected a package's name, as it is installed or"
     " imported, got 1"),
    ('"numpy"', '"sklearn"', 'packages[1]: "scikit-learn" is listed twice'),
    ('["numpy", "scikit-learn"]', '"numpy"', 'packages: expected a list, got "numpy"'),
    ('["numpy", "scikit-learn"]', "[]", None),
    ('en = "Rotary position embedding", ', "", 'title: the key "en" is missing'),
    ("zh = ", "fr = ", 'title: unknown key "fr"; known are en, zh'),
    ('en = "Rotary position embedding"', 'en = " "', 'title.en: expected one line of text,'
     ' got " "'),
    ('name = "apply_rope"', 'name = "apply-rope"', "entry_points[0].name: expected a Python name"
     ' of ASCII letters, digits and _, got "apply-rope"'),
    ('name = "angle"', 'name = "apply_rope"', 'entry_points[1].name: "apply_rope" is listed'
     " twice"),
    ('kind = "integer"', 'kind = "int"', "entry_points[1].parameters[0].kind: expected"
     ' "tensor", "number" or "integer", got "int"'),
    ('name = "positions"', 'name = "x"', 'entry_points[0].parameters[1].name: "x" is listed'
     " twice"),
    ('kind = "tensor" },\n', 'kind = "tensor", optional = true },\n', None),
    ('{ name = "base", kind = "number", optional = true }', '{ name = "base", kind = "number" }',
     "entry_points[0].parameters[2]: a parameter without optional = true after one with it"),
    ("optional = true", "optional = 1", "entry_points[0].parameters[1].optional: expected true"
     " or false, got 1"),
    ('like = "x"', 'like = "xs"', 'entry_points[0].result.like: no tensor parameter "xs"; did'
     ' you mean "x"?'),
    ('like = "x"', 'like = "base"', 'entry_points[0].result.like: no tensor parameter "base"; '
     "known are x, positions"),
    ('result = { kind = "number" }', 'result = { kind = "number", like = "position" }',
     'entry_points[1].result.like: only a result of kind "tensor" has a shape'),
    ('family = "float"', 'family = "float32"', 'entry_points[0].result.family: expected "float",'
     ' "integer", "bool" or "complex", got "float32"'),
    ("call_s = 1.5", "call_s = true", "limits.call_s: expected seconds, more than 0 and at most"
     " 86400, got true"),
    ("call_s = 1.5", "call_s = nan", "limits.call_s: expected seconds, more than 0 and at most"
     " 86400, got NaN"),
    ("call_s = 1.5", "call_s = 0", "limits.call_s: expected seconds, more than 0 and at most"
     " 86400, got 0"),
    ("call_s = 1.5", "calls_s = 1.5", 'limits: unknown key "calls_s"; did you mean "call_s"?'),
    ("memory_mib = 512", "memory_mib = 0.5", "limits.memory_mib: expected an integer from 1 to"
     " 1048576, got 0.5"),
    ("memory_mib = 512", "memory_mib = true", "limits.memory_mib: expected an integer from 1 to"
     " 1048576, got true"),
    ('rotated = "apply_rope"', 'rotated = "apply_rop"', 'variables.rotated: no entry point'
     ' "apply_rop"; did you mean "apply_rope"?'),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "sentence"), WRONG_ASSIGNMENTS)
def test_each_mistake_in_assignment_toml_is_said_with_its_place(
    tmp_path: Path, right: str, wrong: str, sentence: str | None
) -> None:
    if sentence is None:  # right after all: everything may be optional
        assert an_assignment(tmp_path, assignment_toml=ASSIGNMENT_TOML.replace(right, wrong, 1))
        return
    assert right in ASSIGNMENT_TOML

    problems = problems_of(tmp_path, assignment_toml=ASSIGNMENT_TOML.replace(right, wrong, 1))

    joint = ": " if sentence.startswith(("the key", "unknown")) else ", "
    assert [f"hw4_rope/assignment.toml{joint}{sentence}"] == problems


WRONG_RUBRICS = [
    ("points = 3", "points = true", "criteria[0].points: expected an integer from 0 to 1000000,"
     " got true"),
    ("points = 3", "points = 3.0", "criteria[0].points: expected an integer from 0 to 1000000,"
     " got 3.0"),
    ("points = 3", "points = -1", "criteria[0].points: expected an integer from 0 to 1000000,"
     " got -1"),
    ("points = 3", 'points = "3"', "criteria[0].points: expected an integer from 0 to 1000000,"
     ' got "3"'),
    ("points = 3\n", "", 'criteria[0]: the key "points" is missing'),
    ("points = 3", "point = 3\npoints = 3", 'criteria[0]: unknown key "point"; did you mean'
     ' "points"?'),
    ('id = "base"', 'id = "turning"', 'criteria[2].id: "turning" is listed twice'),
    ('entry_points = ["apply_rope"]', 'entry_points = ["apply_rop"]',
     'criteria[0].entry_points[0]: no entry point "apply_rop"; did you mean "apply_rope"?'),
    ('entry_points = ["apply_rope"]', "entry_points = []",
     "criteria[0].entry_points: expected a list of at least 1, got []"),
    ('entry_points = ["apply_rope"]', 'entry_points = "apply_rope"',
     'criteria[0].entry_points: expected a list, got "apply_rope"'),
    ('["apply_rope", "angle"]', '["angle", "angle"]',
     'criteria[1].entry_points[1]: "angle" is listed twice'),
    ('needs = ["turning"]', 'needs = ["turnning"]',
     'criteria[1].needs[0]: no criterion "turnning"; did you mean "turning"?'),
    ('needs = ["turning"]', 'needs = ["pairing"]',
     "criteria[1].needs: goes in a circle: pairing needs pairing"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "sentence"), WRONG_RUBRICS)
def test_each_mistake_in_rubric_toml_is_said_with_its_place(
    tmp_path: Path, right: str, wrong: str, sentence: str
) -> None:
    assert right in RUBRIC_TOML

    problems = problems_of(tmp_path, rubric_toml=RUBRIC_TOML.replace(right, wrong, 1))

    assert [f"hw4_rope/rubric.toml, {sentence}"] == problems


def test_criteria_that_need_each_other_are_each_told_the_circle(tmp_path: Path) -> None:
    circle = RUBRIC_TOML.replace(
        'entry_points = ["apply_rope"]\n', 'entry_points = ["apply_rope"]\nneeds = ["pairing"]\n'
    )

    assert problems_of(tmp_path, rubric_toml=circle) == [
        "hw4_rope/rubric.toml, criteria[0].needs: goes in a circle:"
        " turning needs pairing needs turning",
        "hw4_rope/rubric.toml, criteria[1].needs: goes in a circle:"
        " pairing needs turning needs pairing",
    ]


def test_all_problems_of_both_files_come_in_one_error(tmp_path: Path) -> None:
    problems = problems_of(
        tmp_path,
        assignment_toml=ASSIGNMENT_TOML.replace('"1.0"', "1.0").replace("512", "true"),
        rubric_toml=RUBRIC_TOML.replace("points = 3", "points = 0.5"),
    )

    assert [each.split(": expected")[0] for each in problems] == [
        "hw4_rope/assignment.toml, version",
        "hw4_rope/assignment.toml, limits.memory_mib",
        "hw4_rope/rubric.toml, criteria[0].points",
        "hw4_rope/rubric.toml, criteria[1].points",
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", 'hw4_rope/rubric.toml: the key "criteria" is missing'),
        (b"criteria = 3", "hw4_rope/rubric.toml, criteria: expected a list, got 3"),
        (b"criteria = [3]", "hw4_rope/rubric.toml, criteria[0]: expected a table, got 3"),
        (b"criteria = []", "hw4_rope/rubric.toml, criteria: expected a list of at least 1, got []"),
        (b"# caf\xe9", "hw4_rope/rubric.toml: expected UTF-8, got byte 0xe9 at offset 5"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    assert problems_of(tmp_path, rubric_toml=content) == [sentence]


def test_a_file_that_is_not_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, rubric_toml='[[criteria]]\nid = "a\n')

    assert problem.startswith("hw4_rope/rubric.toml: expected TOML: ")
    assert "line 2" in problem


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = an_assignment_folder(tmp_path)
    (folder / "rubric.toml").unlink()

    with pytest.raises(AssignmentError) as caught:
        load(folder)

    assert caught.value.problems == ("hw4_rope/rubric.toml: the file is missing",)


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read(tmp_path: Path) -> None:
    windows = b"\xef\xbb\xbf" + RUBRIC_TOML.replace("\n", "\r\n").encode()

    assert an_assignment(tmp_path, rubric_toml=windows).max_score == 7


# --- the schemas agree with the reader -------------------------------------------------------


@pytest.mark.parametrize("rubric", SHIPPED, ids=lambda path: path.parent.name)
def test_every_shipped_assignment_is_read_and_satisfies_the_schemas(rubric: Path) -> None:
    assert load(rubric.parent).id == rubric.parent.name.split("_")[0]
    for name in ("assignment", "rubric"):
        document = tomllib.loads((rubric.parent / f"{name}.toml").read_text("utf-8"))
        jsonschema.validate(document, schema(name))


def test_the_schemas_take_what_the_reader_takes() -> None:
    jsonschema.validate(tomllib.loads(ASSIGNMENT_TOML), schema("assignment"))
    jsonschema.validate(tomllib.loads(RUBRIC_TOML), schema("rubric"))


# What compares one part of a file with another is beyond a schema.
BEYOND = ("listed twice", "no tensor", "no entry", "no criterion", "circle", "after one with it")


@pytest.mark.parametrize(
    ("name", "document"),
    [
        (name, document.replace(right, wrong, 1))
        for name, document, cases in (
            ("assignment", ASSIGNMENT_TOML, WRONG_ASSIGNMENTS),
            ("rubric", RUBRIC_TOML, WRONG_RUBRICS),
        )
        for right, wrong, sentence in cases
        if sentence and not any(words in sentence for words in BEYOND)
        # TOML has NaN, JSON and its schemas do not.
        if wrong != "call_s = nan"
        # Python calls 3.0 a float, JSON an integer.
        if wrong != "points = 3.0"
    ],
)
def test_the_schemas_refuse_what_the_reader_refuses(name: str, document: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(document), schema(name))


@pytest.mark.parametrize("kind", ["assignment", "rubric", "report"])
def test_every_key_of_a_schema_is_described(kind: str) -> None:
    def undescribed(part: object, path: str) -> list[str]:
        if not isinstance(part, dict):
            return []
        found = [] if "description" in part else [path]
        for key, each in part.get("properties", {}).items():
            found += undescribed(each, f"{path}.{key}")
        for key, each in part.get("$defs", {}).items():
            found += undescribed(each, f"{path}#{key}")
        return found + (undescribed(part["items"], f"{path}[]") if "items" in part else [])

    assert undescribed(schema(kind), "$") == []


# --- the digest ------------------------------------------------------------------------------


def test_the_digest_depends_on_every_file_that_decides(tmp_path: Path) -> None:
    folder = an_assignment_folder(tmp_path)
    deciding = [
        "assignment.toml",
        "rubric.toml",
        "texts.toml",
        "misconceptions.toml",
        "diagnosis.json",
        "suite/test_public.py",
        "suite/public_values.json",
        "suite/data/more.json",
    ]
    digests = {digest_of(folder)}

    for name in deciding:
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("ab") as file:
            file.write(b"\n")
        digests.add(digest_of(folder))

    assert len(digests) == 1 + len(deciding)


def test_a_renamed_file_changes_the_digest(tmp_path: Path) -> None:
    folder = an_assignment_folder(tmp_path)
    before = digest_of(folder)

    (folder / "suite/test_public.py").rename(folder / "suite/test_other.py")

    assert before != digest_of(folder)


def test_the_digest_overlooks_what_decides_nothing(tmp_path: Path) -> None:
    folder = an_assignment_folder(tmp_path)
    before = digest_of(folder)

    for name in ("reference.py", "handout.md", "suite/__pycache__/x.pyc", "suite/.DS_Store"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"something")

    assert before == digest_of(folder)


def test_the_digest_does_not_depend_on_where_the_folder_is(tmp_path: Path) -> None:
    one = an_assignment_folder(tmp_path / "one")
    other = an_assignment_folder(tmp_path / "other", name="renamed")

    assert digest_of(one) == digest_of(other)


def test_an_assignment_keeps_the_digest_that_it_gave_first(tmp_path: Path) -> None:
    hw4 = an_assignment(tmp_path)
    before = hw4.digest

    (hw4.folder / "rubric.toml").write_text("changed")

    assert before == hw4.digest != digest_of(hw4.folder)


# --- finding ---------------------------------------------------------------------------------


def a_course(parent: Path, *ids: str) -> Path:
    for id in ids:
        text = ASSIGNMENT_TOML.replace('"hw4"', f'"{id}"')
        an_assignment_folder(parent, name=f"{id}_x", assignment_toml=text)
    return parent


def test_assignments_come_in_natural_order(tmp_path: Path) -> None:
    found = find_all(a_course(tmp_path, "hw10", "hw2", "exam", "hw1"), {})

    assert [each.id for each in found] == ["exam", "hw1", "hw2", "hw10"]


def test_the_option_wins_over_the_variable(tmp_path: Path) -> None:
    option, variable = a_course(tmp_path / "a", "hw1"), a_course(tmp_path / "b", "hw2")

    assert search_folders(option, {"GRADE_ASSIGNMENTS": str(variable)}) == (option,)
    assert search_folders(None, {"GRADE_ASSIGNMENTS": str(variable)}) == (variable,)


def test_a_folder_that_is_an_assignment_itself_may_be_named(tmp_path: Path) -> None:
    folder = an_assignment_folder(tmp_path)

    assert [each.id for each in find_all(folder, {})] == ["hw4"]


def test_a_named_folder_that_is_not_there_is_an_error_and_nothing_else_is_searched(
    tmp_path: Path,
) -> None:
    gone = tmp_path / "gone"

    with pytest.raises(UsageProblem) as caught:
        search_folders(None, {"GRADE_ASSIGNMENTS": str(gone)})

    assert str(caught.value) == f"GRADE_ASSIGNMENTS: there is no folder {gone}"


def test_a_named_folder_without_assignments_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem) as caught:
        search_folders(tmp_path, {})

    assert str(caught.value) == (
        f"--assignments: no assignment in {tmp_path} (looked for */assignment.toml)"
    )


def test_neither_the_current_folder_nor_an_empty_variable_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_course(tmp_path / "assignments", "hw66")
    monkeypatch.chdir(tmp_path)

    folders = search_folders(None, {"GRADE_ASSIGNMENTS": ""})

    assert folders == (Path(assignment.__file__).resolve().parent.parent / "assignments",)


def an_installed_module(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = site / "grader"
    package.mkdir()
    monkeypatch.setattr(assignment, "__file__", str(package / "assignment.py"))
    return package


def test_an_installed_wheel_has_its_own_assignments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = a_course(an_installed_module(tmp_path, monkeypatch) / "student_edition", "hw1")

    assert search_folders(None, {}) == (shipped,)


@pytest.mark.parametrize("project", ["", "[project]\nname = 'other'\n", "not toml", None])
def test_an_assignments_folder_beside_the_package_needs_the_projects_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str | None
) -> None:
    an_installed_module(tmp_path, monkeypatch)
    a_course(tmp_path / "assignments", "hw1")
    if project is not None:
        (tmp_path / "pyproject.toml").write_text(project)

    assert search_folders(None, {}) == ()


def test_two_assignments_with_one_id_are_refused(tmp_path: Path) -> None:
    an_assignment_folder(tmp_path, name="hw4_a")
    an_assignment_folder(tmp_path, name="hw4_b")

    with pytest.raises(AssignmentError) as caught:
        find_all(tmp_path, {})

    assert caught.value.problems == ('hw4_b/assignment.toml, id: "hw4" is already the id of hw4_a',)


def test_the_problems_of_all_assignments_come_together(tmp_path: Path) -> None:
    for name in ("hw1_a", "hw2_b"):
        an_assignment_folder(tmp_path, name=name, rubric_toml="criteria = 1")

    with pytest.raises(AssignmentError) as caught:
        find_all(tmp_path, {})

    assert [each.split(",")[0] for each in caught.value.problems] == [
        "hw1_a/rubric.toml",
        "hw2_b/rubric.toml",
    ]
