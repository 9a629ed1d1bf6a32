"""Complete screens, compared line by line with what people should see."""

from datetime import datetime
from typing import Any

import pytest

from grader.cli import screen
from grader.cli.layout import WIDTH, columns
from grader.model import Language

NOW = datetime(2025, 3, 1, 15, 0)
NOTEBOOK = screen.Shown(file="hw4.ipynb", kind="notebook", saved=datetime(2025, 3, 1, 14, 3))


def a_text(en: str, zh: str = "", code: str = "some.code", **args: Any) -> dict[str, Any]:
    return {"code": code, "args": args, "en": en, "zh": zh or en}


def a_criterion(
    title: tuple[str, str],
    points: int,
    verdict: str = "passed",
    message: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "id": title[0].split()[0].lower(),
        "title": a_text(*title),
        "points": points,
        "earned": {"passed": points, "pending": None}.get(verdict, 0),
        "verdict": verdict,
        "needs": [],
        "message": message,
    }


def a_problem(message: dict[str, Any], **place: Any) -> dict[str, Any]:
    nowhere = {"line": None, "cell": None, "cell_id": None, "quote": None}
    return {"kind": "name_error", "message": message, **nowhere, **place}


def a_report(id_: str, title: tuple[str, str], *criteria: dict[str, Any], **parts: Any) -> Any:
    failed = parts.get("status") == "grader_failed"
    return {
        "assignment": {"id": id_, "title": a_text(*title), "version": "1.0"},
        "status": "graded",
        "audience": "student",
        "score": None if failed else sum(row["earned"] or 0 for row in criteria),
        "decided": sum(row["points"] for row in criteria if row["earned"] is not None),
        "max_score": sum(row["points"] for row in criteria),
        "criteria": list(criteria),
        "tests": [],
        "diagnoses": [],
        "problems": [],
        **parts,
    }


def drawn(reports: list[Any], shown: screen.Shown, language: Language = "en", **styled: Any) -> str:
    style = screen.Style(language=language, now=NOW, **styled)
    return "\n".join(line.text for line in screen.draw(reports, shown, style)) + "\n"


# --- the other pairing ---------------------------------------------------------------------


def the_other_pairing() -> Any:
    tried = ["x = torch.arange(1.0, 7.0).repeat(3, 1)", "apply_rope(x)[1]"]
    lost = a_text(
        "The first difference is at [0]: expected -1.143, got -2.826.",
        "第一处不同在 [0]：应为 -1.143，实为 -2.826。",
        function="apply_rope",
        line=1,
        cell=4,
        quote="def apply_rope(x, positions=None, base=10000.0):",
        tried=tried,
        expected="[-1.143, 1.922, 2.811, 4.135, 4.987, 6.011]",
        got="[-2.826, 1.766, 2.987, 3.003, 5.087, 6.006]",
    )
    diagnosis = {
        "id": "halves",
        "title": a_text(
            "Dimension i is paired with i + D/2, as some libraries do it",
            "第 i 维与第 i + D/2 维配对（一些库就是这样做的）",
        ),
        "hint": a_text(
            "Write down which two numbers of x are turned together. This task turns neighbours.",
            "写下 x 中哪两个数一起旋转。这道题旋转的是相邻的两个数。",
        ),
    }
    return a_report(
        "hw4",
        ("Rotary position embedding", "旋转位置编码"),
        a_criterion(("Each pair is turned by an angle", "每一对都按角度旋转"), 3),
        a_criterion(
            ("Values: dimension 2i is paired with 2i+1", "数值：第 2i 维与第 2i+1 维配对"),
            3,
            "failed",
            lost,
        ),
        a_criterion(("The base argument is used", "使用了参数 base"), 1),
        diagnoses=[diagnosis],
    )


def test_a_failing_notebook_says_what_was_tried_and_which_mistake_it_was() -> None:
    seen = drawn([the_other_pairing()], NOTEBOOK)

    expected = """\
hw4  Rotary position embedding              hw4.ipynb, as saved today at 14:03

  FAILED   0 of 3   Values: dimension 2i is paired with 2i+1
  passed   3 of 3   Each pair is turned by an angle
  passed   1 of 1   The base argument is used

What went wrong

1. Values: dimension 2i is paired with 2i+1
   where     apply_rope, cell 4 ("def apply_rope(x, positions=None, ...")
   tried     x = torch.arange(1.0, 7.0).repeat(3, 1)
             apply_rope(x)[1]
   expected  [-1.143, 1.922, 2.811, 4.135, 4.987, 6.011]
   got       [-2.826, 1.766, 2.987, 3.003, 5.087, 6.006]
   The first difference is at [0]: expected -1.143, got -2.826.
   Your numbers are exactly those of a known mix-up: "Dimension i is paired
   with i + D/2, as some libraries do it".
   hint      Write down which two numbers of x are turned together. This task
             turns neighbours.

This is a check on your own computer, not your grade. The course also runs
hidden tests (the same requirements, other inputs): your grade can be lower.

Next: change apply_rope, save the notebook, run the same command again.
hw4: 4 of 7 so far
"""
    assert expected == seen


def test_a_failing_notebook_in_chinese() -> None:
    seen = drawn([the_other_pairing()], NOTEBOOK, "zh")

    expected = """\
hw4  旋转位置编码                             hw4.ipynb，今天 14:03 保存的版本

  未通过   0 / 3   数值：第 2i 维与第 2i+1 维配对
  通过     3 / 3   每一对都按角度旋转
  通过     1 / 1   使用了参数 base

哪里出了问题

1. 数值：第 2i 维与第 2i+1 维配对
   位置   函数 apply_rope，第 4 个单元格（“def apply_rope(x, positions=None,
          ...”）
   输入   x = torch.arange(1.0, 7.0).repeat(3, 1)
          apply_rope(x)[1]
   应为   [-1.143, 1.922, 2.811, 4.135, 4.987, 6.011]
   实为   [-2.826, 1.766, 2.987, 3.003, 5.087, 6.006]
   第一处不同在 [0]：应为 -1.143，实为 -2.826。
   你的结果与一种常见的错误写法完全一致：“第 i 维与第 i + D/2 维配对（一些库
   就是这样做的）”。
   提示   写下 x 中哪两个数一起旋转。这道题旋转的是相邻的两个数。

这是在你自己电脑上的检查，不是正式成绩。课程还会运行隐藏测试（要求相同，输入不
同），正式成绩可能更低。

下一步：修改 apply_rope，保存笔记本，再运行一次同样的命令。
hw4：目前 4 / 7
"""
    assert expected == seen


# --- an unfinished template --------------------------------------------------------------------


def unfinished() -> Any:
    placeholder = a_text(
        "The placeholder is still in sinusoid_value, so there was nothing to test.",
        "sinusoid_value 里还是占位符，所以没有可以测试的内容。",
        code="criterion.not_done",
        functions=["sinusoid_value"],
    )
    where = a_problem(
        a_text(
            "The placeholder is still there (value = ...).",
            "占位内容还在（value = ...）。",
            function="sinusoid_value",
        ),
        kind="not_done",
        line=14,
    )
    return a_report(
        "hw3",
        ("Value and period of a sinusoid", "正弦函数的值与周期"),
        a_criterion(("sinusoid_value", "sinusoid_value"), 5, "not_done", placeholder),
        a_criterion(("sinusoid_period", "sinusoid_period"), 5),
        problems=[where],
    )


SCRIPT = screen.Shown(
    file="hw3.py",
    kind="module",
    saved=datetime(2025, 2, 28, 9, 3),
)


def test_an_unfinished_template_is_not_called_wrong() -> None:
    seen = drawn([unfinished()], SCRIPT)

    expected = """\
hw3  Value and period of a sinusoid        hw3.py, as saved yesterday at 09:03

  not done   0 of 5   sinusoid_value
  passed     5 of 5   sinusoid_period

Still to do

1. sinusoid_value, line 14
   The placeholder is still there (value = ...).

This is a check on your own computer, not your grade. The course also runs
hidden tests (the same requirements, other inputs): your grade can be lower.

Next: write sinusoid_value, save the file, run the same command again.
hw3: 5 of 10 so far
"""
    assert expected == seen


def test_an_unfinished_template_in_chinese() -> None:
    seen = drawn([unfinished()], SCRIPT, "zh")

    expected = """\
hw3  正弦函数的值与周期                          hw3.py，昨天 09:03 保存的版本

  未完成   0 / 5   sinusoid_value
  通过     5 / 5   sinusoid_period

还没有完成

1. 函数 sinusoid_value，第 14 行
   占位内容还在（value = ...）。

这是在你自己电脑上的检查，不是正式成绩。课程还会运行隐藏测试（要求相同，输入不
同），正式成绩可能更低。

下一步：写完 sinusoid_value，保存文件，再运行一次同样的命令。
hw3：目前 5 / 10
"""
    assert expected == seen


# --- several homeworks in one notebook -----------------------------------------------------------


def several() -> list[Any]:
    problems = [
        a_problem(
            a_text(
                "mask_padding(embeddings, attention_mask)\n"
                "NameError: name 'attention_mask' is not defined\n"
                "A variable that only your open notebook remembers does not exist here.",
                "mask_padding(embeddings, attention_mask)\n"
                "NameError: name 'attention_mask' is not defined\n"
                "这里没有只存在于你打开的笔记本里的变量。",
            ),
            line=2,
            cell=7,
            quote="embeddings = torch.randn(1, 4, 2)",
        ),
        a_problem(
            a_text("SyntaxError: '(' was never closed", "SyntaxError: '(' was never closed"),
            kind="syntax_error",
            line=6,
            cell=9,
            quote="def apply_rope(x, positions=None, base=10000.0):",
        ),
    ]
    missing = a_text(
        "Your file does not define apply_rope, so there was nothing to test.",
        "你的文件没有定义 apply_rope，所以没有可以测试的内容。",
        code="criterion.missing",
        functions=["apply_rope"],
    )
    return [
        a_report(
            "hw1",
            ("Add position vectors", "加上位置向量"),
            a_criterion(("Values", "数值"), 10),
            problems=problems,
        ),
        a_report(
            "hw4",
            ("Rotary position embedding", "旋转位置编码"),
            a_criterion(("Each pair is turned", "每一对都旋转"), 3, "not_run", missing),
            a_criterion(("Values in this pairing", "按这种配对的数值"), 7, "not_run", missing),
            problems=problems,
        ),
    ]


WEEK = screen.Shown(
    file="week3.ipynb",
    kind="notebook",
    saved=datetime(2025, 1, 1, 14, 3),
    absent=(("hw3", ("sinusoid_value", "sinusoid_period")),),
)


def test_one_notebook_with_several_homeworks_tells_its_problems_once() -> None:
    seen = drawn(several(), WEEK)

    expected = """\
week3.ipynb, as saved on 2025-01-01 at 14:03, holds hw1 and hw4.
Not in this file: hw3 (it needs sinusoid_value and sinusoid_period).

Problems in the notebook

  cell 7, line 2 ("embeddings = torch.randn(1, 4, 2)")
      mask_padding(embeddings, attention_mask)
      NameError: name 'attention_mask' is not defined
      A variable that only your open notebook remembers does not exist here.
  cell 9, line 6 ("def apply_rope(x, positions=None, ...")
      SyntaxError: '(' was never closed


hw1  Add position vectors

  passed   10 of 10   Values


hw4  Rotary position embedding

  not run   0 of 3   Each pair is turned
  not run   0 of 7   Values in this pairing

What went wrong

1. apply_rope
   Your file does not define apply_rope, so there was nothing to test.

This is a check on your own computer, not your grade. The course also runs
hidden tests (the same requirements, other inputs): your grade can be lower.

Next: mend cell 9, line 6, save the notebook, run the same command again.
hw1: 10 of 10 so far    Add position vectors
hw4:  0 of 10 so far    Rotary position embedding
"""
    assert expected == seen


def test_one_notebook_with_several_homeworks_in_chinese() -> None:
    seen = drawn(several(), WEEK, "zh")

    expected = """\
week3.ipynb，2025-01-01 14:03 保存的版本，包含 hw1 和 hw4。
这个文件里没有 hw3（需要函数 sinusoid_value 和 sinusoid_period）。

笔记本里的问题

  第 7 个单元格第 2 行（“embeddings = torch.randn(1, 4, 2)”）
      mask_padding(embeddings, attention_mask)
      NameError: name 'attention_mask' is not defined
      这里没有只存在于你打开的笔记本里的变量。
  第 9 个单元格第 6 行（“def apply_rope(x, positions=None, ...”）
      SyntaxError: '(' was never closed


hw1  加上位置向量

  通过   10 / 10   数值


hw4  旋转位置编码

  未运行   0 / 3   每一对都旋转
  未运行   0 / 7   按这种配对的数值

哪里出了问题

1. apply_rope
   你的文件没有定义 apply_rope，所以没有可以测试的内容。

这是在你自己电脑上的检查，不是正式成绩。课程还会运行隐藏测试（要求相同，输入不
同），正式成绩可能更低。

下一步：改好第 9 个单元格第 6 行，保存笔记本，再运行一次同样的命令。
hw1：目前 10 / 10    加上位置向量
hw4：目前  0 / 10    旋转位置编码
"""
    assert expected == seen


# --- full marks, failures of the grader, files that cannot be read ------------------------------


def test_full_marks_in_the_staff_edition_are_unofficial() -> None:
    report = a_report("hw1", ("Add", "加"), a_criterion(("Values", "数值"), 10))
    shown = screen.Shown(file="hw1.py", kind="module", complete=True)

    seen = drawn([report], shown)

    expected = f"""\
hw1  Add{" " * 64}hw1.py

  passed   10 of 10   Values

This is an unofficial check with the complete suite, hidden tests included. It
is not a grade.

Next: hand in hw1.py the way your course asks for it.
hw1: 10 of 10 (unofficial)
"""
    assert expected == seen


def test_a_failure_of_the_grader_blames_nobody_and_gives_no_score() -> None:
    row = a_criterion(("Values", "数值"), 10, "errored")
    report = a_report("hw1", ("Add", "加"), row | {"earned": None}, status="grader_failed")

    seen = drawn([report], screen.Shown(file="hw1.py", kind="module"))

    expected = f"""\
hw1  Add{" " * 64}hw1.py

The grader itself failed, so there is no score. This is not your fault, and it
costs no points.

Next: run the same command again. If it fails again, add --debug and show the
output to your course staff.
hw1: not graded
"""
    assert expected == seen


def test_an_unreadable_file_shows_its_problem_instead_of_criteria() -> None:
    unread = a_text("The file could not be read, so there was nothing to test.")
    report = a_report(
        "hw1",
        ("Add", "加"),
        a_criterion(("Values", "数值"), 10, "not_run", unread),
        status="unreadable",
        problems=[a_problem(a_text("The file is empty."), kind="empty")],
    )

    seen = drawn([report], screen.Shown(file="hw1.py", kind="module"))

    expected = f"""\
hw1  Add{" " * 64}hw1.py

Problems in the file

  The file is empty.

Nothing was tested yet: Python could not run any of the functions.

Next: mend what is said above, save the file, run the same command again.
hw1: 0 of 10 so far
"""
    assert expected == seen


def test_points_that_cannot_be_decided_here_are_named_and_not_counted_as_lost() -> None:
    report = a_report(
        "hw1",
        ("Add", "加"),
        a_criterion(("Values", "数值"), 8),
        a_criterion(("Long inputs", "长输入"), 2, "pending"),
    )

    seen = drawn([report], screen.Shown(file="hw1.py", kind="module")).split("\n")

    assert seen[2] == "  pending   - of 2   Long inputs"
    assert seen[-2] == "hw1: 8 of 10 so far (2 not decided here)"


def test_of_five_losses_three_are_told_and_two_counted() -> None:
    rows = [
        a_criterion((f"Rule {n}", f"规则 {n}"), 1, "failed", a_text(f"Sentence {n}."))
        for n in range(1, 6)
    ]

    seen = drawn([a_report("hw1", ("Add", "加"), *rows)], NOTEBOOK)

    assert (
        "3. Rule 3\n   Sentence 3.\n\n... and 2 more (add --all to see them)\n\nThis is a check"
        in seen
    )
    assert "Sentence 4" not in seen


def test_with_all_every_loss_and_every_problem_is_told() -> None:
    rows = [
        a_criterion((f"Rule {n}", f"规则 {n}"), 1, "failed", a_text(f"Sentence {n}."))
        for n in range(1, 6)
    ]
    problems = [a_problem(a_text(f"Problem {n}."), line=n) for n in range(1, 8)]
    report = a_report("hw1", ("Add", "加"), *rows, problems=problems)

    seen = drawn([report], NOTEBOOK, everything=True)

    assert all(f"Sentence {n}." in seen for n in range(1, 6))
    assert all(f"Problem {n}." in seen for n in range(1, 8))
    assert "more" not in seen


def test_the_next_step_repeats_the_command_that_was_typed() -> None:
    seen = drawn([the_other_pairing()], NOTEBOOK, command='grade check "my hw4.ipynb" --lang en')

    told = "Next: change apply_rope, save the notebook, run this again:\n"
    assert told + '  grade check "my hw4.ipynb" --lang en\nhw4: 4 of 7 so far\n' in seen


@pytest.mark.parametrize("command", ["grade check " + "x" * 70, "grade check 'a\nb'", ""])
def test_a_command_that_is_not_one_line_as_typed_is_not_shown_in_parts(command: str) -> None:
    seen = drawn([the_other_pairing()], NOTEBOOK, command=command)

    assert "save the notebook, run the same command again.\nhw4: 4 of 7" in seen


def test_who_hands_in_is_not_told_to_run_anything_again() -> None:
    report = a_report("hw1", ("Add", "加"), a_criterion(("Values", "数值"), 10))

    seen = drawn([report], NOTEBOOK, command="grade check hw4.ipynb")

    assert "grade check" not in seen


def test_losses_of_one_cause_are_told_once() -> None:
    message = a_text("It took longer than 2 seconds.", code="outcome.timeout")
    rows = [a_criterion((f"Rule {n}", f"规则 {n}"), 1, "failed", message) for n in range(1, 4)]

    seen = drawn([a_report("hw1", ("Add", "加"), *rows)], NOTEBOOK)

    told = "1. Rule 1\n   It took longer than 2 seconds.\n"
    told += "   Lost for the same reason: Rule 2; Rule 3\n"
    assert told in seen
    assert "2. Rule" not in seen


def crashes(code: str, *, tried: bool = True, **args: Any) -> list[dict[str, Any]]:
    """Three criteria that one and the same crash took."""
    return [
        a_criterion(
            (f"Rule {n}", f"规则 {n}"),
            1,
            "failed",
            a_text("No.", "不行。", code, **args, **({"tried": [f"f({n})"]} if tried else {})),
        )
        for n in range(1, 4)
    ]


def test_one_crash_at_one_line_is_told_once_whatever_was_tried_when_it_came() -> None:
    rows = crashes("raised.call", function="f", type="TypeError", message="no", line=3)

    seen = drawn([a_report("hw1", ("Add", "加"), *rows)], NOTEBOOK)

    told = "1. Rule 1\n   where     f, line 3\n   tried     f(1)\n   No.\n"
    assert told + "   Lost for the same reason: Rule 2; Rule 3\n" in seen
    assert "2. Rule" not in seen


def test_two_crashes_at_two_lines_are_two() -> None:
    first = crashes("raised.call", function="f", type="TypeError", message="no", line=3)
    other = crashes("raised.call", function="f", type="TypeError", message="no", line=4)

    seen = drawn([a_report("hw1", ("Add", "加"), first[0], other[1])], NOTEBOOK)

    assert "2. Rule 2\n   where     f, line 4\n" in seen


def test_a_criterion_that_needs_a_lost_one_is_told_with_it() -> None:
    needs = a_text("Counts only after Rule.", code="criterion.needs", needs="Rule")
    rows = [
        a_criterion(("Rule 1", "规则 1"), 1, "failed", a_text("Wrong.", "不对。")),
        a_criterion(("Manners", "规矩"), 1, "not_run", needs) | {"needs": ["rule"]},
    ]

    english = drawn([a_report("hw1", ("Add", "加"), *rows)], NOTEBOOK)
    chinese = drawn([a_report("hw1", ("Add", "加"), *rows)], NOTEBOOK, "zh")

    assert "1. Rule 1\n   Wrong.\n   Counts only together with that: Manners\n\n" in english
    assert "1. 规则 1\n   不对。\n   拿到上面这一项才计分：规矩\n\n" in chinese


BROKEN_IMPORT = a_problem(
    a_text("einops is not installed.", "没有安装 einops。", "problem.file.absent_module"),
    kind="import_error",
    line=2,
    quote="from einops import rearrange",
)


def test_losses_with_one_root_are_one_and_its_problem_is_not_told_again() -> None:
    root = {
        "line": 2,
        "cell": None,
        "quote": "from einops import rearrange",
        "type": "ModuleNotFoundError",
        "message": "No module named 'einops'",
        "module": "einops",
    }
    rows = [
        a_criterion(
            (f"Rule {n}", f"规则 {n}"),
            1,
            "failed",
            a_text("einops is missing.", "", "raised.missing_name", function=f"f{n}", root=root),
        )
        for n in range(1, 4)
    ]
    report = a_report("hw1", ("Add", "加"), *rows, problems=[BROKEN_IMPORT])

    seen = drawn([report], SCRIPT)

    told = '1. Rule 1\n   where     line 2 ("from einops import rearrange")\n'
    told += "   einops is missing.\n   Lost for the same reason: Rule 2; Rule 3\n"
    assert told in seen
    assert seen.count("einops is") == 1


def a_platform_line(cell: int, platform: str = "Colab") -> dict[str, Any]:
    text = a_text("It only concerns Colab.", "", "problem.cell.platform", platform=platform)
    return a_problem(text, kind="platform", cell=cell, line=1, quote="from google.colab import x")


def test_what_costs_no_points_stands_below_and_platforms_take_one_line() -> None:
    raised = a_problem(a_text("NameError: x", "NameError: x"), kind="raised", cell=9, line=2)
    problems = [a_platform_line(1), raised, a_platform_line(4), a_platform_line(7, "Kaggle")]
    report = a_report("hw4", ("Turn", "转"), a_criterion(("Values", "数值"), 3), problems=problems)

    english, chinese = drawn([report], NOTEBOOK), drawn([report], NOTEBOOK, "zh")

    assert (
        """\
  passed   3 of 3   Values

This costs no points

  cell 9, line 2
      NameError: x
  3 lines only concern Colab and Kaggle and do nothing here: cell 1, line 1;
  cell 4, line 1; cell 7, line 1.

This is a check"""
        in english
    )
    assert (
        """\
以下各项不扣分

  第 9 个单元格第 2 行
      NameError: x
  有 3 行只与 Colab 和 Kaggle 有关，在这里不起作用：第 1 个单元格第 1 行；第 4
  个单元格第 1 行；第 7 个单元格第 1 行。
"""
        in chinese
    )


def test_a_single_line_of_the_platform_is_spoken_of_in_the_singular() -> None:
    row = a_criterion(("Values", "数值"), 3)
    report = a_report("hw4", ("Turn", "转"), row, problems=[a_platform_line(1)])

    seen = drawn([report], NOTEBOOK)

    assert (
        "\nThis costs no points\n\n"
        "  One line only concerns Colab and does nothing here: cell 1, line 1.\n" in seen
    )


def test_a_package_that_may_be_missing_elsewhere_is_not_called_free() -> None:
    note = a_problem(a_text("seaborn is not in the list."), kind="package")
    row = a_criterion(("Values", "数值"), 3)
    report = a_report("hw4", ("Turn", "转"), row, problems=[note, a_platform_line(1)])

    seen = drawn([report], NOTEBOOK)

    told = (
        "\nAlso noticed\n\n  One line only concerns Colab and does nothing here: cell 1, line 1.\n"
    )
    assert told + "  seaborn is not in the list.\n" in seen


def test_beside_a_loss_that_it_does_not_explain_a_problem_is_not_called_harmless() -> None:
    raised = a_problem(a_text("NameError: x"), kind="raised", cell=9, line=2)
    mending = a_problem(a_text("SyntaxError: x"), kind="syntax_error", cell=3, line=1)
    row = a_criterion(("Values", "数值"), 3, "failed", a_text("Wrong."))
    report = a_report("hw4", ("Turn", "转"), row, problems=[raised, mending])

    seen = drawn([report], NOTEBOOK)

    order = ["Problems in the notebook", "SyntaxError", "Wrong.", "Also noticed", "NameError"]
    assert sorted(order, key=seen.index) == order
    assert "costs no points" not in seen


def test_staff_see_every_test_and_how_it_was_run() -> None:
    tests = [
        {
            "id": "test_values[3]",
            "criterion": "values",
            "visibility": "hidden",
            "verdict": "failed",
            "cause": "mismatch",
            "message": None,
            "detail": "seed 7\natol 1e-05",
        },
        {
            "id": "test_shape",
            "criterion": "values",
            "visibility": "shown",
            "verdict": "passed",
            "cause": None,
            "message": None,
            "detail": None,
        },
    ]
    run = {"seed": 7, "sandbox": {"level": "full"}, "torch": "2.13.0", "python": "3.11.7"}
    row = a_criterion(("Values", "数值"), 10, "failed", a_text("Wrong."))
    report = a_report("hw1", ("Add", "加"), row, audience="staff", tests=tests, run=run)

    seen = drawn([report], NOTEBOOK)

    expected = """
Tests

  FAILED   hidden  test_values[3] (mismatch)
      seed 7
      atol 1e-05
  passed   shown   test_shape

  seed 7, sandbox full, torch 2.13.0, Python 3.11.7
"""
    assert expected in seen
    assert "Next: leave out --audience staff to see what the student is told" in seen
    assert "save the notebook" not in seen


# --- laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_screen_is_wider_than_eighty_columns_or_steers_the_terminal(language: Language) -> None:
    nasty = "\x1b[2J" + "很长的题目" * 20 + "x" * 200 + "\u202e" + "\n" + "word " * 40
    rows = [
        a_criterion((nasty, nasty), 1000, "failed", a_text(nasty, function=nasty, tried=[nasty])),
        a_criterion((nasty, nasty), 1, "pending"),
    ]
    problem = a_problem(a_text(nasty), line=3, cell=4, quote=nasty)
    report = a_report("hw1", (nasty, nasty), *rows, problems=[problem])
    shown = screen.Shown(file=nasty, kind="notebook", saved=NOW)

    seen = drawn([report, report], shown, language)

    assert [line for line in seen.split("\n") if columns(line) > WIDTH] == []
    assert not any(char in seen for char in "\x1b\u202e")


def test_students_see_no_seed_sandbox_level_or_test_id() -> None:
    run = {"seed": None, "sandbox": {"level": "full"}, "torch": "2.13.0", "python": "3.11.7"}
    report = the_other_pairing() | {"run": run, "tests": [{"id": "test_secret"}]}

    seen = drawn([report], NOTEBOOK)

    assert not any(word in seen for word in ("seed", "sandbox", "full", "test_secret"))


# --- diagnoses of two functions ------------------------------------------------------------


def two_functions(*, by: str = "numbers", named: bool = True) -> Any:
    value = a_text(
        "Expected 1, got 2.", "应为 1，实为 2。", **({"function": "value"} if named else {})
    )
    period = a_text("Expected 3, got 4.", "应为 3，实为 4。", function="period")
    diagnoses = [
        {
            "id": name,
            "title": a_text(f"Mix-up in {name}", f"{name} 写错了"),
            "hint": a_text(f"Look at {name}.", f"看看 {name}。"),
            "function": name,
            "by": by,
        }
        for name in ("period", "value")
    ]
    return a_report(
        "hw3",
        ("Sinusoids", "正弦"),
        a_criterion(("Values are right", "取值正确"), 2, "failed", value),
        a_criterion(("Periods are right", "周期正确"), 2, "failed", period),
        diagnoses=diagnoses,
    )


def test_each_diagnosis_stands_under_the_loss_of_its_own_function() -> None:
    seen = drawn([two_functions()], NOTEBOOK)

    first, second = seen.split("2. Periods are right")
    assert "Mix-up in value" in first
    assert "Mix-up in period" not in first
    assert "Mix-up in period" in second
    assert "value: " not in first


def test_a_diagnosis_without_a_loss_that_names_its_function_names_it_itself() -> None:
    seen = drawn([two_functions(named=False)], NOTEBOOK)

    assert 'value: Your numbers are exactly those of a known mix-up: "Mix-up in' in seen


def test_of_errors_no_screen_says_that_they_are_numbers() -> None:
    seen = drawn([two_functions(by="errors")], NOTEBOOK)

    assert "Your numbers" not in seen
    assert "Your function fails on the same calls, and in the same way, as a known" in seen
