"""`grade verify` on small assignments that break one rule each."""

import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from test_cli import ROOT, grade, out

from grader.assignment import find_all, load
from grader.verifying import papers, proof
from grader.verifying.bench import Bench
from grader.verifying.records import Row, Verification, document

ASSIGNMENT = """\
id = "tw"
version = "1.0"
title = { en = "Twice", zh = "两倍" }

[[entry_points]]
name = "twice"
parameters = [{ name = "x", kind = "tensor" }]
result = { kind = "tensor", like = "x" }
"""
RUBRIC = """\
[[criteria]]
id = "values"
points = 3
title = { en = "Every number is doubled", zh = "每个数都翻倍" }
entry_points = ["twice"]

[[criteria]]
id = "manners"
points = 1
title = { en = "The input is left unchanged", zh = "不修改输入" }
entry_points = ["twice"]
needs = ["values"]
"""
PUBLIC = """\
import pytest
import torch
from grader.suite.compare import assert_close

@pytest.mark.criterion("values")
def test_three_numbers(student, shown):
    x = torch.tensor([1.0, -2.0, 0.5])
    assert_close(student.twice(x), shown["three"], atol=1e-6)

@pytest.mark.criterion("values")
def test_two_numbers(student, shown):
    x = torch.tensor([3.0, 0.25])
    assert_close(student.twice(x), shown["two"], atol=1e-6)

@pytest.mark.criterion("manners")
def test_the_input_is_left_unchanged(student, shown):
    x = student.keep(torch.tensor([3.0, 0.25]))
    student.twice(x)
    assert_close(student.twice(x), shown["two"], atol=1e-6)

@pytest.mark.criterion("values")
def test_the_first_call_once_more(student, shown):
    x = torch.tensor([1.0, -2.0, 0.5])
    assert_close(student.twice(x), shown["three"], atol=1e-6)
"""
HIDDEN = """\
import pytest
import torch
from grader.suite.compare import assert_close

def doubled(x):
    return torch.tensor([2 * float(number) for number in x], dtype=torch.float64)

def public_values():
    return {
        "three": doubled(torch.tensor([1.0, -2.0, 0.5])),
        "two": doubled(torch.tensor([3.0, 0.25])),
    }

@pytest.mark.criterion("values")
def test_other_numbers(student, rng):
    x = rng.tensor(7, low=-2000.0, high=2000.0)
    assert_close(student.twice(x), doubled(x), atol=1e-6)

@pytest.mark.criterion("manners")
def test_other_numbers_are_left_unchanged(student, rng):
    x = rng.tensor(7)
    kept = student.keep(x)
    student.twice(kept)
    assert_close(student.twice(kept), doubled(x), atol=1e-6)
"""
VALUES = {
    "three": {"shape": [3], "values": [2.0, -4.0, 1.0]},
    "two": {"shape": [2], "values": [6.0, 0.5]},
}
RIGHT = "def twice(x):\n    return x * 2\n"
TEMPLATE = '# torchgrade: tw\ndef twice(x):\n    result = """your code here"""\n    return result\n'
MISCONCEPTIONS = """\
[[misconceptions]]
id = "tripled"
title = { en = "Three times", zh = "三倍" }
hint = { en = "How often?", zh = "几倍？" }
earns = []

[[misconceptions]]
id = "in_place"
title = { en = "In place", zh = "原地修改" }
hint = { en = "Print x after the call.", zh = "调用之后再打印一次 x。" }
earns = ["values"]
"""
EQUIVALENTS = """\
[[equivalents]]
old = "return x * 2"
new = "return x + x"
reason = "The same number."
"""
FILES: dict[str, str] = {
    "assignment.toml": ASSIGNMENT,
    "rubric.toml": RUBRIC,
    "template.py": TEMPLATE,
    "reference.py": RIGHT,
    "handout.md": "# Twice\n\n[1.0, -2.0, 0.5] becomes [2.0, -4.0, 1.0].\n",
    "handout.zh.md": "# 两倍\n",
    "template.zh.py": TEMPLATE.replace("def twice", "# 两倍\ndef twice"),
    "misconceptions.toml": MISCONCEPTIONS,
    "suite/test_public.py": PUBLIC,
    "suite/test_hidden.py": HIDDEN,
    "suite/public_values.json": json.dumps(VALUES),
    "gallery/accepted/added.py": "def twice(x):\n    return x + x\n",
    "gallery/misconceptions/tripled.py": "def twice(x):\n    return x * 3\n",
    "gallery/misconceptions/in_place.py": "def twice(x):\n    return x.mul_(2)\n",
}


def an_assignment_folder(parent: Path, **changed: str | None) -> Path:
    """A provable assignment; `reference="…"` replaces reference.py, None leaves a file out."""
    names = {Path(name).stem: name for name in FILES}
    files: dict[str, str | None] = dict(FILES)
    files |= {names.get(stem, stem): text for stem, text in changed.items()}
    folder = parent / "tw_twice"
    for name, text in files.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(size=1) as opened:
        yield opened


class Silence:
    def begin(self, id: str, total: int) -> None: ...
    def tick(self) -> None: ...


def verified(folder: Path, bench: Bench, *, update: bool = False) -> Verification:
    wish = proof.Wish(seeds=1, mutant_seeds=1, update=update)
    return proof.verify(load(folder), bench, wish, Silence())


def a_row(found: Verification, check: str) -> Row:
    (row,) = [each for each in found.rows if each.check == check]
    return row


def english(row: Row) -> list[str]:
    return [each.en for each in row.details]


# --- what holds -------------------------------------------------------------------------------


@pytest.mark.long
def test_a_sound_assignment_is_proven_but_for_its_diagnosis(tmp_path: Path, bench: Bench) -> None:
    found = verified(an_assignment_folder(tmp_path), bench)
    verdicts = {row.check: row.verdict for row in found.rows}

    assert {k: v for k, v in verdicts.items() if v != "ok"} == {"diagnosis": "warning"}
    assert [(each.id, each.points) for each in found.prices] == [("tripled", 0), ("in_place", 3)]
    assert found.mutants > 10
    assert found.survivors == ()


@pytest.mark.long
def test_the_findings_follow_their_schema(tmp_path: Path, bench: Bench) -> None:
    found = verified(
        an_assignment_folder(tmp_path, reference="def twice(x):\n    return x\n"), bench
    )
    raw = resources.files("grader").joinpath("schemas", "verification-v1.schema.json")
    written = json.loads(json.dumps(document([found.hardened()], strict=True)))

    jsonschema.Draft202012Validator(json.loads(raw.read_text("utf-8"))).validate(written)
    assert written["verdict"] == "failed"


# --- right answers ----------------------------------------------------------------------------


@pytest.mark.long
def test_an_accepted_style_that_loses_a_point_is_named(tmp_path: Path, bench: Bench) -> None:
    folder = an_assignment_folder(tmp_path, added="def twice(x):\n    x += x\n    return x\n")
    row = a_row(verified(folder, bench), "accepted")

    assert row.verdict == "failed"
    assert row.details[0].args == {
        "name": "added.py",
        "points": 3,
        "of": 4,
        "seed": 0,
        "tests": ["test_the_input_is_left_unchanged", "test_other_numbers_are_left_unchanged"],
    }


@pytest.mark.long
def test_a_style_that_hangs_on_the_order_of_the_tests_is_named(
    tmp_path: Path, bench: Bench
) -> None:
    memory = """\
calls = []
def twice(x):
    calls.append(x.numel())
    return x * 2 if calls[0] == 3 else x
"""
    public = PUBLIC[: PUBLIC.index('@pytest.mark.criterion("values")\ndef test_the_first_call')]
    folder = an_assignment_folder(tmp_path, added=memory, test_public=public)
    row = a_row(verified(folder, bench), "accepted")

    assert [each.code for each in row.details] == ["verify.loses_reverse"]
    assert row.details[0].args["name"] == "added.py"


@pytest.mark.long
def test_a_reference_that_loses_points_is_named(tmp_path: Path, bench: Bench) -> None:
    found = verified(an_assignment_folder(tmp_path, reference=RIGHT.replace("2", "4")), bench)
    row = a_row(found, "reference")

    assert row.verdict == "failed"
    assert "verify.loses_seed" in [each.code for each in row.details]


@pytest.mark.long
def test_a_suite_that_cannot_be_collected_is_reported_once(tmp_path: Path, bench: Bench) -> None:
    found = verified(an_assignment_folder(tmp_path, test_hidden="import torch\n1 / 0\n"), bench)
    row = a_row(found, "reference")

    assert row.verdict == "failed"
    assert row.details[0].code == "verify.broken"
    assert "division by zero" in row.details[0].en
    assert "accepted" not in {each.check for each in found.rows}


# --- wrong answers ----------------------------------------------------------------------------


@pytest.mark.long
def test_a_misconception_that_earns_more_than_stated_is_named(tmp_path: Path, bench: Bench) -> None:
    stated = MISCONCEPTIONS.replace('earns = ["values"]', "earns = []")
    row = a_row(
        verified(an_assignment_folder(tmp_path, misconceptions=stated), bench), "misconceptions"
    )

    assert row.verdict == "failed"
    assert english(row) == ["in_place earns values on seed 0; it is said to earn -."]


@pytest.mark.long
def test_a_misconception_with_full_marks_is_named(tmp_path: Path, bench: Bench) -> None:
    found = verified(an_assignment_folder(tmp_path, tripled=RIGHT), bench)

    assert english(a_row(found, "misconceptions")) == ["tripled keeps all points on seed 0."]


@pytest.mark.long
def test_a_trivial_answer_that_earns_points_is_named(tmp_path: Path, bench: Bench) -> None:
    # Only zeros are asked for: their double is the argument itself.
    zeros = {
        "three": {"shape": [3], "values": [0.0] * 3},
        "two": {"shape": [2], "values": [0.0] * 2},
    }
    public = PUBLIC.replace("[1.0, -2.0, 0.5]", "[0.0, 0.0, 0.0]").replace(
        "[3.0, 0.25]", "[0.0, 0.0]"
    )
    hidden = HIDDEN.replace("[1.0, -2.0, 0.5]", "[0.0, 0.0, 0.0]").replace(
        "[3.0, 0.25]", "[0.0, 0.0]"
    )
    folder = an_assignment_folder(
        tmp_path, test_public=public, test_hidden=hidden, public_values=json.dumps(zeros)
    )
    row = a_row(verified(folder, bench), "trivial")

    assert row.verdict == "failed"
    assert (
        "With the shown tests alone, an answer that computes nothing (x) earns values, manners."
        in english(row)
    )


@pytest.mark.long
def test_a_template_that_holds_an_answer_is_named(tmp_path: Path, bench: Bench) -> None:
    row = a_row(verified(an_assignment_folder(tmp_path, template=RIGHT), bench), "template")

    assert english(row) == [
        "The template earns 4.",
        "The template is taken for finished work by: values, manners",
    ]


# --- mutants ----------------------------------------------------------------------------------


@pytest.mark.long
def test_a_surviving_mutant_is_a_warning_and_fails_strictly(tmp_path: Path, bench: Bench) -> None:
    reference = "def twice(x):\n    if len(x) == 99:\n        return x\n    return x * 2\n"
    found = verified(an_assignment_folder(tmp_path, reference=reference), bench)
    alive = [(each.mutant.line, each.mutant.new) for each in found.survivors]

    assert (2, "if False:") in alive
    assert a_row(found, "mutants").verdict == "warning"
    assert a_row(found.hardened(), "mutants").verdict == "failed"


@pytest.mark.long
def test_equivalents_are_accepted_with_their_reason_and_refused_when_killed_or_unknown(
    tmp_path: Path, bench: Bench
) -> None:
    reference = "def twice(x):\n    return x + x\n"
    listed = """\
[[equivalents]]
old = "return x + x"
new = "return x"
reason = "No."

[[equivalents]]
old = "return x / x"
new = "return x"
reason = "No."
"""
    folder = an_assignment_folder(
        tmp_path, reference=reference, **{"equivalent_mutants.toml": listed}
    )
    row = a_row(verified(folder, bench), "mutants")

    assert row.verdict == "failed"
    assert [each.code for each in row.details] == [
        "verify.equivalent_killed",
        "verify.equivalent_unknown",
    ]


# --- made files -------------------------------------------------------------------------------


@pytest.mark.long
def test_a_stale_stored_value_fails_and_is_written_anew_on_request(
    tmp_path: Path, bench: Bench
) -> None:
    stale = json.dumps({**VALUES, "two": {"shape": [2], "values": [6.0, 0.25]}})
    folder = an_assignment_folder(tmp_path, public_values=stale)
    before = a_row(verified(folder, bench), "stored_values")
    after = a_row(verified(folder, bench, update=True), "stored_values")

    assert before.verdict == "failed"
    assert before.details[0].args == {"names": ["two"]}
    assert (after.verdict, after.details[0].args) == ("ok", {"names": ["two"]})
    assert json.loads((folder / "suite/public_values.json").read_text()) == VALUES


# --- papers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "check", "verdict", "sentence"),
    [
        ({"handout.zh": None}, "translations", "warning", "handout.zh.md is missing."),
        ({"template.zh": None}, "translations", "warning", "template.zh.py is missing."),
        (
            {"template.zh": TEMPLATE.replace("(x)", "(x, base=2)")},
            "files",
            "failed",
            "The code of template.zh.py is not that of template.py:"
            " only docstrings and comments may differ.",
        ),
        (
            {"template.zh": TEMPLATE.replace("tw", "hw9")},
            "files",
            "failed",
            "The code of template.zh.py is not that of template.py:"
            " only docstrings and comments may differ.",
        ),
        (
            {"rubric": RUBRIC.replace(', zh = "不修改输入"', "")},
            "translations",
            "warning",
            "rubric.toml, $.criteria[1].title: there is no Chinese text.",
        ),
        (
            {"texts.toml": '[en]\nodd = "{seen} is odd"\n[zh]\nodd = "{x} 是奇数"\n'},
            "translations",
            "warning",
            "texts.toml: odd has other fields in Chinese than in English.",
        ),
        (
            {"tripled": None},
            "files",
            "failed",
            "misconceptions.toml lists tripled, but gallery/misconceptions/tripled.py is missing.",
        ),
        (
            {"gallery/misconceptions/new.py": RIGHT},
            "files",
            "failed",
            "gallery/misconceptions/new.py is not listed in misconceptions.toml.",
        ),
        (
            {"added": None},
            "files",
            "warning",
            "gallery/accepted/ is empty: nothing shows that other right styles earn all points.",
        ),
        (
            {"misconceptions": MISCONCEPTIONS.replace("earns = []", 'earns = ["valeus"]')},
            "files",
            "failed",
            'tw_twice/misconceptions.toml, misconceptions[0].earns[0]: no criterion "valeus";'
            ' did you mean "values"?',
        ),
        ({"reference": None}, "files", "failed", "reference.py is missing."),
    ],
)
def test_a_fault_of_the_files_is_named(
    tmp_path: Path, changed: dict[str, str | None], check: str, verdict: str, sentence: str
) -> None:
    material = proof.read(load(an_assignment_folder(tmp_path, **changed)), tmp_path / "students")
    (row,) = [each for each in proof.paper_rows(material) if each.check == check]

    assert row.verdict == verdict
    assert sentence in english(row)


def test_twins_with_different_hints_are_named(tmp_path: Path) -> None:
    twins = MISCONCEPTIONS.replace("earns = []", 'earns = []\ntwins = ["in_place"]')
    folder = an_assignment_folder(tmp_path, misconceptions=twins)
    material = proof.read(load(folder), tmp_path / "students")

    assert english(papers.hints(material.known, [])) == [
        "in_place and tripled cannot be told apart by numbers, but their hints differ."
    ]


@pytest.mark.long
def test_a_criterion_without_a_shown_test_is_named(tmp_path: Path, bench: Bench) -> None:
    public = PUBLIC.replace('criterion("manners")', 'criterion("values")')
    row = a_row(verified(an_assignment_folder(tmp_path, test_public=public), bench), "shown_tests")

    assert english(row) == ["The criterion manners has no shown test."]


@pytest.mark.long
def test_a_mistake_that_only_hidden_tests_find_is_a_warning(tmp_path: Path, bench: Bench) -> None:
    wrong = "def twice(x):\n    return x * 2 if len(x) < 5 else x\n"
    row = a_row(verified(an_assignment_folder(tmp_path, tripled=wrong), bench), "shown_tests")

    assert row.verdict == "warning"
    assert english(row) == [
        "Only hidden tests find tripled: with the shown ones it earns values, manners."
    ]


@pytest.mark.long
def test_a_test_that_raises_by_itself_is_named(tmp_path: Path, bench: Bench) -> None:
    hidden = HIDDEN.replace(
        "    assert_close(student.twice(x), doubled(x), atol=1e-6)\n\n",
        "    seen = student.twice(x)\n    {1: 1}[1 if seen[0] == 2 * x[0] else 2]\n"
        "    assert_close(seen, doubled(x), atol=1e-6)\n\n",
        1,
    )
    row = a_row(verified(an_assignment_folder(tmp_path, test_hidden=hidden), bench), "suite")

    assert row.verdict == "failed"
    assert english(row) == ["test_other_numbers raises an exception of its own on tripled.py."]


# --- the command ------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    an_assignment_folder(tmp_path, rubric=RUBRIC.replace("points = 3", "points = true"))
    arguments = ("--assignments", str(tmp_path), "--lang", "en", "verify", "--json", "-")
    done = grade(*arguments, cwd=tmp_path)
    (found,) = json.loads(out(done))["assignments"]

    assert done.returncode == 1
    assert found["id"] == "tw_twice"
    assert "criteria[0].points: expected an integer" in found["checks"][0]["details"][0]["en"]


@pytest.mark.parametrize(
    "arguments", [("verify", "hw99"), ("verify", "--seeds", "0"), ("verify", "--json", "x.py")]
)
def test_what_cannot_be_carried_out_is_a_usage_error(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    known = str(ROOT / "assignments")

    assert grade("--assignments", known, *arguments, cwd=tmp_path).returncode == 2


@pytest.mark.long
def test_the_table_fits_a_terminal_and_names_the_surviving_mutant(tmp_path: Path) -> None:
    reference = "def twice(x):\n    if len(x) == 99:\n        return x\n    return x * 2\n"
    an_assignment_folder(tmp_path, reference=reference)
    options = ("--seeds", "1", "--jobs", "1", "--strict")
    done = grade(
        "--assignments", str(tmp_path), "--lang", "en", "verify", "TW", *options, cwd=tmp_path
    )
    lines = out(done).splitlines()

    assert done.returncode == 1
    assert max(map(len, lines)) <= 80
    assert "  line 2  - if len(x) == 99:" in lines
    assert "          + if False:" in lines
    assert lines[-1].startswith("tw: not proven, failed: diagnosis, mutants")


# Each by itself: they take minutes, and may run side by side.
@pytest.mark.long
@pytest.mark.parametrize("id_", [each.id for each in find_all(None, {})])
def test_every_shipped_assignment_is_proven(tmp_path: Path, id_: str) -> None:
    # Five seeds, as by default, take everybody's time here; whoever changes a suite runs them.
    done = grade("verify", id_, "--strict", "--seeds", "2", "--lang", "en", cwd=tmp_path)

    assert done.returncode == 0, out(done)
