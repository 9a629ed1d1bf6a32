"""Libraries that courses use: the real ones in a worker, preloaded by the zygote, or absent."""

import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Lifeline, OpenSession, a_session, folder_for

from grader.errors import GraderError
from grader.model import Raised, Returned
from grader.sandbox.forked import ForkedBench, available
from grader.sandbox.link import Bench
from grader.sandbox.portable import PortableBench

forks = pytest.mark.skipif(not available(), reason="this platform cannot fork workers")
OpenBench = Callable[..., ForkedBench]

# --- preloading ---------------------------------------------------------------------------------


@pytest.fixture
def open_bench(tmp_path_factory: pytest.TempPathFactory, lifeline: Lifeline) -> Iterator[OpenBench]:
    opened: list[ForkedBench] = []

    def opener(*preload: str) -> ForkedBench:
        folder = folder_for(tmp_path_factory)
        opened.append(ForkedBench(folder, lifeline.reader, lifeline.abandoned, preload=preload))
        return opened[-1]

    yield opener
    for bench in opened:
        bench.close()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a package of this name and text where everybody finds it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def install(name: str, text: str) -> None:
        (folder / f"{name}.py").write_text(textwrap.dedent(text), "utf-8")

    return install


def value_of(bench: Bench, body: str) -> object:
    session = a_session(
        bench,
        "import sys, os\ndef work():\n" + textwrap.indent(textwrap.dedent(body), "    "),
        load_s=60.0,
        call_s=60.0,
        total_s=120.0,
        memory_mib=1024,
    )
    try:
        seen = session.call("work")
        assert isinstance(seen, Returned), seen
        return seen.value
    finally:
        session.close()


COUNTING = """
    import os
    from pathlib import Path
    Path(os.environ["HOME"], "left by an import").write_text("x")
    imported_in = os.getpid()
"""


@forks
def test_what_the_course_names_is_imported_once_for_all_workers(
    open_bench: OpenBench, installed: Callable[[str, str], None]
) -> None:
    installed("counted", COUNTING)
    bench = open_bench("counted")

    seen = [
        value_of(
            bench, "return sys.modules['counted'].imported_in == os.getppid(), os.listdir('.')"
        )
        for _ in range(2)
    ]

    assert seen == [(True, ["submission.py"])] * 2


@forks
def test_nothing_is_imported_that_nobody_named(
    open_bench: OpenBench, installed: Callable[[str, str], None]
) -> None:
    installed("counted", COUNTING)

    assert value_of(open_bench(), "return 'counted' in sys.modules") is False


@forks
@pytest.mark.parametrize(
    "text", ["raise ValueError('broken')", "import sys; sys.exit(3)", "import nothing_of_that_name"]
)
def test_a_package_that_fails_is_left_to_whoever_imports_it(
    open_bench: OpenBench, installed: Callable[[str, str], None], text: str
) -> None:
    installed("failing", text)
    installed("counted", "there = 1")
    bench = open_bench("failing", "no_such_package", "counted")

    assert value_of(bench, "return 'failing' in sys.modules, 'counted' in sys.modules") == (
        False,
        True,
    )


@forks
def test_a_package_that_starts_threads_is_named_instead_of_forked(
    open_bench: OpenBench, installed: Callable[[str, str], None]
) -> None:
    installed(
        "threading_at_once",
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
    )
    bench = open_bench("threading_at_once")

    with pytest.raises(GraderError, match="threading_at_once starts threads"):
        bench.await_ready()


@pytest.mark.long
@forks
@pytest.mark.parametrize(
    "preload",
    [
        (),
        pytest.param(
            ("matplotlib", "pandas", "seaborn", "IPython", "tqdm", "einops"),
            marks=pytest.mark.with_libraries("matplotlib", "pandas", "seaborn", "IPython"),
        ),
    ],
    ids=["nothing", "what courses use"],
)
def test_a_zygote_has_one_thread_and_no_file_of_its_own(
    open_bench: OpenBench, preload: tuple[str, ...]
) -> None:
    bench = open_bench(*preload)
    bench.await_ready()

    place = Path("/proc") / str(bench.process.pid)
    assert len(list((place / "task").iterdir())) == 1
    try:
        opened = {os.readlink(each) for each in (place / "fd").iterdir()}  # noqa: PTH115
    except PermissionError:
        pytest.skip("an ordinary user cannot look into it")
    own = {each for each in opened if each.startswith("/") and not each.startswith("/dev/")}
    # Its stderr is the judge's, wherever that leads.
    assert own <= {os.readlink("/proc/self/fd/2")}  # noqa: PTH115
    assert len([each for each in opened if each.startswith("socket:")]) == 1


# --- the real ones, in both sandboxes -----------------------------------------------------------

WORK = {
    "matplotlib": {
        "a figure that is shown and saved": """
            import matplotlib.pyplot as plt
            plt.plot([1, 2]); plt.title("x"); plt.show(); plt.savefig("figure.png")
            plt.close("all")
            return os.path.getsize("figure.png") > 0""",
        "a backend with a window": """
            import matplotlib
            matplotlib.use("TkAgg")
            import matplotlib.pyplot as plt
            plt.figure(); plt.show()
            return matplotlib.get_backend().lower() == "agg\"""",
        "another one, late": """
            import matplotlib.pyplot as plt
            plt.figure()
            plt.switch_backend("QtAgg")
            plt.rcParams["backend"] = "GTK4Agg"
            plt.figure(); plt.plot([1, 2]); plt.show(); plt.savefig("figure.png")
            return os.path.getsize("figure.png") > 0""",
        "that of a notebook": """
            import matplotlib
            matplotlib.use("nbagg")
            import matplotlib.pyplot as plt
            plt.subplots(2, 2); plt.show()
            return True""",
        "an animation": """
            import matplotlib.animation, matplotlib.pyplot as plt
            figure, axes = plt.subplots()
            line, = axes.plot([0, 1])
            made = matplotlib.animation.FuncAnimation(figure, lambda _: [line], frames=2)
            return len(made.to_jshtml()) > 100""",
        "text in Chinese": """
            import matplotlib.pyplot as plt
            plt.rcParams["font.sans-serif"] = ["SimHei"]
            plt.title("\\u4f4d\\u7f6e"); plt.savefig("figure.png")
            return True""",
    },
    "pandas": {
        "a table that is written and read": """
            import pandas as pd
            pd.DataFrame({"a": [1, 2]}).to_csv("a.csv", index=False)
            when = pd.Timestamp("2026-01-01", tz="Asia/Shanghai")
            return int(pd.read_csv("a.csv")["a"].sum()) == 3 and when.hour == 0""",
    },
    "seaborn": {
        "a plot of it": """
            import seaborn as sns, pandas as pd
            sns.set_theme()
            sns.heatmap(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}), annot=True)
            return True""",
    },
    "tqdm": {
        "bars": """
            from tqdm import tqdm, trange
            from tqdm.auto import tqdm as suited
            return sum(1 for _ in tqdm(range(3))) + sum(suited(range(3))) + sum(trange(2)) == 7""",
    },
    "einops": {
        "rearranging": """
            import torch
            from einops import rearrange
            from einops.layers.torch import Rearrange
            x = torch.ones(2, 3, 4)
            return rearrange(x, "b l d -> b (l d)").equal(Rearrange("b l d -> b (l d)")(x))""",
    },
    "sympy": {
        "a derivative": """
            import sympy
            x = sympy.Symbol("x")
            return sympy.diff(sympy.sin(x)) == sympy.cos(x)""",
    },
}
LIBRARIES = [
    pytest.param(body, marks=pytest.mark.with_libraries(name), id=f"{name}: {what}")
    for name, cases in WORK.items()
    for what, body in cases.items()
]


@forks
@pytest.mark.parametrize("body", LIBRARIES)
def test_the_libraries_of_courses_work_in_there(bench: ForkedBench, body: str) -> None:
    assert value_of(bench, body) is True


@pytest.fixture(scope="module")
def portable(
    tmp_path_factory: pytest.TempPathFactory, lifeline: Lifeline
) -> Iterator[PortableBench]:
    made = PortableBench(folder_for(tmp_path_factory), lifeline.reader, lifeline.abandoned)
    yield made
    made.close()


@pytest.mark.long
@pytest.mark.parametrize("body", LIBRARIES)
def test_and_in_a_portable_worker(portable: PortableBench, body: str) -> None:
    assert value_of(portable, body) is True


@forks
@pytest.mark.with_libraries("matplotlib")
def test_plots_leave_nothing_in_sight_and_say_nothing(open_session: OpenSession) -> None:
    opened = open_session(
        """
        import os
        def work():
            import matplotlib.pyplot as plt
            plt.rcParams["font.sans-serif"] = ["SimHei"]
            plt.title("\u4f4d\u7f6e")
            plt.show()
            plt.savefig("figure.png")
            return sorted(each for each in os.listdir(".") if not each.startswith("."))
        """,
        load_s=60.0,
        call_s=60.0,
        memory_mib=1024,
    )

    seen = opened.call("work")

    assert isinstance(seen, Returned), seen
    assert (seen.value, seen.stdout) == (["figure.png", "submission.py"], "")


@forks
@pytest.mark.with_libraries("matplotlib")
def test_a_preloaded_matplotlib_draws_and_its_fonts_are_found_already(
    open_bench: OpenBench,
) -> None:
    body = """
        fonts = sys.modules["matplotlib.font_manager"].fontManager
        import matplotlib.pyplot as plt
        plt.switch_backend("TkAgg"); plt.plot([1, 2]); plt.savefig("figure.png")
        import matplotlib
        at_home = matplotlib.get_cachedir().startswith(os.getcwd())
        return at_home, len(fonts.ttflist) > 0, matplotlib.get_backend().lower()"""

    assert value_of(open_bench("matplotlib"), body) == (True, True, "agg")


# --- without them -------------------------------------------------------------------------------


@forks
@pytest.mark.without_libraries("matplotlib", "pandas", "seaborn", "IPython", "tqdm", "einops")
@pytest.mark.parametrize("name", ["matplotlib.pyplot", "pandas", "seaborn", "einops"])
def test_an_absent_library_is_absent_even_when_the_course_names_it(
    open_bench: OpenBench, name: str
) -> None:
    session = a_session(open_bench(name), f"def work():\n    import {name}")

    seen = session.call("work")

    session.close()
    assert isinstance(seen, Raised)
    assert seen.type == "ModuleNotFoundError"
    assert sys.modules.get(name) is None
