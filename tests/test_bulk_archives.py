"""Zip files and odd files: looked into safely, or refused with a reason."""

import io
import os
import stat
import struct
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from grader.bulk import archives
from grader.bulk.archives import Entry, Locator, Refused, Shelf, walk
from grader.sandbox import scratch
from grader.submission import MAX_BYTES


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def in_memory(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (mode | 0o644) << 16
    return member


def entries(root: Path) -> list[str]:
    return [each.shown for each in walk(root) if isinstance(each, Entry)]


def refusals(root: Path) -> dict[str, str]:
    return {each.shown: each.reason for each in walk(root) if isinstance(each, Refused)}


def test_members_of_a_zip_are_read_where_they_are(tmp_path: Path) -> None:
    inner = in_memory(("deep/hw1.py", b"inner"))
    root = zipped(tmp_path / "class.zip", ("lee/hw1.py", b"outer"), ("chen.zip", inner))

    found = {each.shown: each.locator for each in walk(root) if isinstance(each, Entry)}
    shelf = Shelf()
    contents = {shown: shelf.read(locator) for shown, locator in found.items()}
    shelf.close()

    assert contents == {"chen.zip/deep/hw1.py": b"inner", "lee/hw1.py": b"outer"}
    assert list(tmp_path.iterdir()) == [root]


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ("../../hw1.py", "unsafe_name"),
        ("/etc/hw1.py", "unsafe_name"),
        ("lee/../../hw1.py", "unsafe_name"),
        ("C:\\hw1.py", "unsafe_name"),
        (special("hw1.py", stat.S_IFLNK), "link"),
        (special("hw1.py", stat.S_IFCHR), "no_regular_file"),
        (special("hw1.py", stat.S_IFIFO), "no_regular_file"),
    ],
)
def test_a_member_that_no_honest_tool_writes_is_refused(
    tmp_path: Path, member: str | zipfile.ZipInfo, reason: str
) -> None:
    root = zipped(tmp_path / "class.zip", (member, b"x = 1\n"), ("lee.py", b""))

    assert list(refusals(root).values()) == [reason]
    assert entries(root) == ["lee.py"]


def test_folders_in_folders_end_somewhere(tmp_path: Path) -> None:
    here = Path.cwd()
    (tmp_path / "lee.py").write_bytes(b"")
    try:
        os.chdir(tmp_path)
        for _ in range(1500):
            Path("d").mkdir()
            os.chdir("d")
        Path("hw1.py").write_bytes(b"")
        os.chdir(here)

        assert entries(tmp_path) == ["lee.py"]
        assert [*refusals(tmp_path).values()] == ["too_deep"]
    finally:
        os.chdir(here)
        # Nobody else's way of removing folders goes so deep.
        scratch.remove(tmp_path / "d")


def test_a_bomb_is_refused_and_a_big_file_is_read_only_as_far_as_it_may_be(
    tmp_path: Path,
) -> None:
    bomb = zipped(tmp_path / "bomb.zip", ("bomb.py", bytes(12 * MAX_BYTES)))
    big = tmp_path / "big.zip"
    with zipfile.ZipFile(big, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("big.py", bytes(MAX_BYTES + 9))

    with closing(Shelf()) as shelf:
        content = shelf.read(Locator(path=str(big), members=(0,)), most=MAX_BYTES)

    assert refusals(bomb) == {"bomb.py": "bomb"}
    assert len(content) == MAX_BYTES + 1


def test_a_zip_within_a_zip_is_looked_into_twice_and_no_deeper(tmp_path: Path) -> None:
    deepest = in_memory(("hw1.py", b""))
    third = in_memory(("third.zip", deepest))
    second = in_memory(("second.zip", third), ("hw2.py", b""))
    root = zipped(tmp_path / "class.zip", ("first.zip", second))

    assert entries(root) == ["first.zip/hw2.py"]
    assert refusals(root) == {"first.zip/second.zip/third.zip": "nested_too_deep"}


def test_an_inner_zip_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_INNER_BYTES", 200)
    inner = in_memory(("hw1.py", os.urandom(400)))
    root = zipped(tmp_path / "class.zip", ("lee.zip", inner))

    assert refusals(root) == {"lee.zip": "too_large"}


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 2)
    root = tmp_path / "in"
    root.mkdir()
    zipped(root / "class.zip", *((f"{name}.py", b"") for name in "abc"))

    assert refusals(root) == {"class.zip": "too_many_files"}


def test_a_damaged_zip_is_refused_and_the_rest_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "lee.zip").write_bytes(b"PK\x03\x04 broken")
    (tmp_path / "chen.py").write_bytes(b"")

    assert refusals(tmp_path) == {"lee.zip": "not_a_zip"}
    assert entries(tmp_path) == ["chen.py"]


def test_a_damaged_member_cannot_be_read(tmp_path: Path) -> None:
    root = tmp_path / "class.zip"
    with zipfile.ZipFile(root, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("hw1.py", b"abcdefgh" * 100)
    root.write_bytes(root.read_bytes().replace(b"abcdefgh", b"abcdefgX", 1))

    with closing(Shelf()) as shelf, pytest.raises(OSError, match="zip file cannot be read"):
        shelf.read(Locator(path=str(root), members=(0,)))


def test_names_that_differ_only_in_case_are_two_files(tmp_path: Path) -> None:
    root = zipped(tmp_path / "class.zip", ("Lee/hw1.py", b"1"), ("lee/hw1.py", b"2"))

    shelf = Shelf()
    found = [shelf.read(each.locator) for each in walk(root) if isinstance(each, Entry)]
    shelf.close()
    assert entries(root) == ["Lee/hw1.py", "lee/hw1.py"]
    assert found == [b"1", b"2"]


def test_litter_in_a_zip_is_left_out(tmp_path: Path) -> None:
    root = zipped(
        tmp_path / "class.zip",
        ("lee/hw1.py", b""),
        ("__MACOSX/lee/._hw1.py", b""),
        ("lee/.ipynb_checkpoints/hw1.ipynb", b""),
        ("lee/env/pyvenv.cfg", b""),
        ("lee/env/lib/x.py", b""),
    )

    assert entries(root) == ["lee/hw1.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
@pytest.mark.parametrize("name", ["\\\\server\\hw1.py", "../hw1.py", "__MACOSX/._hw1.py"])
def test_of_a_zip_in_which_nothing_is_looked_into_its_owner_is_told(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "lee").mkdir()
    zipped(tmp_path / "lee" / "hw1.zip", (name, b"x = 1\n"))

    assert entries(tmp_path) == ["lee/hw1.zip/"]


def test_links_and_pipes_in_a_folder_are_refused(tmp_path: Path) -> None:
    root = tmp_path / "in"
    root.mkdir()
    (tmp_path / "secret.py").write_text("1", encoding="utf-8")
    (root / "link.py").symlink_to(tmp_path / "secret.py")
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.py")

    assert refusals(root) == {"folder": "link", "link.py": "link", "pipe.py": "no_regular_file"}
    assert entries(root) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_link_that_takes_a_files_place_afterwards_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("1", encoding="utf-8")
    (tmp_path / "hw1.py").symlink_to(tmp_path / "secret.py")

    with pytest.raises(OSError):
        Shelf().read(Locator(path=str(tmp_path / "hw1.py")))


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")
def test_a_name_that_is_no_text_is_written_out(tmp_path: Path) -> None:
    (Path(os.fsdecode(bytes(tmp_path) + b"/l\xe9e_hw1.py"))).write_bytes(b"")

    assert entries(tmp_path) == ["l%E9e_hw1.py"]


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        (["张三_hw1.py", "李四（重交）_hw1.py", "作业说明/王五.py"], "gb18030"),
        (["課題一_山田太郎.py", "レポート_佐藤花子.py", "表_ソ.py"], "cp932"),
        (["Müller_hw1.py", "José_hw1.py", "Françoise_hw1.py"], "cp437"),
        (["张三_hw1.py", "Müller.py"], "utf-8"),
    ],
)
def test_names_without_the_flag_are_read_as_fits_the_whole_archive(
    names: list[str], encoding: str, tmp_path: Path
) -> None:
    path = unflagged(tmp_path / "class.zip", [each.encode(encoding) for each in names])

    found = {each.shown for each in walk(path)}
    assert found == set(names)


def test_names_that_fit_nothing_are_listed(tmp_path: Path) -> None:
    path = unflagged(tmp_path / "class.zip", [b"\xff\xfe\xfd\x80.py", b"lee_hw1.py"])

    found = {type(each).__name__: each.shown for each in walk(path)}
    assert found["Entry"] == "lee_hw1.py"
    assert "Refused" in found


def unflagged(path: Path, names: list[bytes]) -> Path:
    """A zip file whose names are these bytes, without the mark for UTF-8."""
    stand_ins = [bytes([ord("J") + at]) * len(name) for at, name in enumerate(names)]
    with zipfile.ZipFile(path, "w") as archive:
        for name in stand_ins:
            archive.writestr(zipfile.ZipInfo(name.decode()), b"x = 1\n")
    content = path.read_bytes()
    for name, stand_in in zip(names, stand_ins, strict=True):
        content = content.replace(stand_in, name)
    path.write_bytes(content)
    return path


def test_an_upload_is_bounded_with_all_that_is_nested_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_UPLOAD_MEMBERS", 10)
    files = [(f"{at}.py", b"") for at in range(6)]
    mallory = in_memory(("a.zip", in_memory(*files)), ("b.zip", in_memory(*files)))
    root = zipped(tmp_path / "class.zip", ("lee.zip", in_memory(*files)), ("mallory.zip", mallory))

    assert refusals(root) == {"mallory.zip/b.zip": "too_many_files"}
    assert [each for each in entries(root) if each.startswith("lee")] == [
        f"lee.zip/{name}" for name, _ in files
    ]


def test_all_that_is_nested_in_a_file_is_bounded_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 10)
    files = [(f"{at}.py", b"") for at in range(4)]
    zips = [(f"{at}.zip", in_memory(*files)) for at in range(4)]
    root = tmp_path / "in"
    root.mkdir()
    zipped(root / "mallory_hw1.zip", *zips)

    assert len(entries(root)) == 8
    assert set(refusals(root).values()) == {"too_many_files"}


def test_zip_files_that_shrink_in_a_zip_file_are_bombs(tmp_path: Path) -> None:
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("zeros.bin", bytes(8 * 1024 * 1024))
    root = zipped(tmp_path / "class.zip", ("mallory.zip", empty.getvalue()), ("lee.py", b""))

    assert refusals(root) == {"mallory.zip": "bomb"}


def test_a_list_of_a_million_members_is_not_read(tmp_path: Path) -> None:
    # An entry of 47 bytes, repeated, and an end that says so.
    central = (
        struct.pack(
            "<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0
        )
        + b"a"
    )
    count = 12 * 1024 * 1024 // len(central)
    listed = central * count
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count % 65536, count % 65536, len(listed), 0, 0)
    stored = tmp_path / "class.zip"
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("mallory.zip", listed + end)
        archive.writestr("lee.py", b"")

    assert refusals(stored) == {"mallory.zip": "too_many_files"}
    assert entries(stored) == ["lee.py"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a" * 300 + ".py", "name_too_long"),
        ("好" * 20_000 + ".py", "name_too_long"),
        ("/".join(["b" * 200] * 6) + "/hw1.py", "name_too_long"),
        ("a/" * 30_000 + "hw1.py", "name_too_long"),
        ("a/" * 70 + "hw1.py", "too_deep"),
    ],
)
def test_a_name_that_is_far_too_long_costs_that_member(
    tmp_path: Path, name: str, reason: str
) -> None:
    root = zipped(tmp_path / "class.zip", (f"mallory/{name}", b""), ("lee/hw1.py", b""))

    found = refusals(root)

    assert entries(root) == ["lee/hw1.py"]
    assert [*found.values()] == [reason]
    # Whose it is can still be seen.
    assert all(each.startswith("mallory/") and len(each) < 1_100 for each in found)


@pytest.mark.skipif(sys.platform != "linux", reason="needs paths of any length")
def test_a_student_is_not_refused_ten_thousand_times(tmp_path: Path) -> None:
    links = [(special(f"{at}.py", stat.S_IFLNK), b"") for at in range(500)]
    root = zipped(tmp_path / "class.zip", ("mallory.zip", in_memory(*links)), ("lee.py", b""))

    assert len(refusals(root)) == 50
    assert entries(root) == ["lee.py"]


def test_many_environments_are_left_out_in_linear_time(tmp_path: Path) -> None:
    members = [(f"env{at}/pyvenv.cfg", b"") for at in range(3_000)]
    members += [(f"env{at}/lib/hw1.py", b"") for at in range(3_000)]
    root = zipped(tmp_path / "class.zip", *members, ("lee/hw1.py", b""))

    assert entries(root) == ["lee/hw1.py"]
