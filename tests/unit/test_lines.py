"""Lines in parts: every line has one owner and its number, wherever a file is cut."""

import bz2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.workloads.reading import files
from ropewalk.workloads.reading.files import parts_of
from ropewalk.workloads.reading.lines import LONGEST, Block, Lines


def read(file: Path) -> tuple[list[bytes], list[tuple[int, str]], int]:
    """All lines of a file, what was no line (with its number in the file), and how many parts there were."""
    found: list[bytes] = []
    bad: list[tuple[int, str]] = []
    before = 0
    parts = parts_of([file])
    for part in parts:
        lines = Lines(part)
        for block in lines:
            if isinstance(block, Block):
                assert len(found) + len(bad) + 1 == before + block.first
                assert block.data.endswith(b"\n")
                found += block.data.split(b"\n")[:-1]
            else:
                bad.append((before + block.number, block.reason))
        before += lines.count
    assert before == len(found) + len(bad)
    return found, bad, len(parts)


@given(
    text=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"").replace(b"\xef", b"")), max_size=30),
    last=st.booleans(),
    size=st.integers(1, 40),
)
def test_cuts_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, text: list[bytes], last: bool, size: int
) -> None:
    file = tmp_path_factory.mktemp("lines") / "file"
    whole = b"\n".join(text) + (b"\n" if last else b"")
    if whole[:1] in (b"\x1f", b"B", b"\x28", b"\xfd", b"7", b"P", b"\xff", b"\xfe", b"<", b"\x00"):
        whole = b"x" + whole  # not to be taken for an archive
    file.write_bytes(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "PLAIN_PART", size)
        found, bad, _ = read(file)
    assert not bad
    assert found == (whole.removesuffix(b"\n").split(b"\n") if whole else [])


def test_cuts_of_an_archive_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BZIP2_PART", 3000)
    lines = [b"%d" % (number * number) for number in range(300_000)]
    (tmp_path / "file").write_bytes(bz2.compress(b"\n".join(lines), 1))
    found, bad, parts = read(tmp_path / "file")
    assert (found, bad) == (lines, [])
    assert parts > 10


@pytest.mark.parametrize("size", [LONGEST - 1, LONGEST, 10**9])
def test_a_line_too_long_is_no_line_and_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(files, "PLAIN_PART", size)
    long = LONGEST + 1
    (tmp_path / "file").write_bytes(b"a\n" + b"x" * LONGEST + b"\n" + b"y" * long + b"\nb\n" + b"z" * (5 * LONGEST))
    found, bad, _ = read(tmp_path / "file")
    assert [line[:1] for line in found] == [b"a", b"x", b"b"]
    assert bad == [
        (3, f"the line is longer than {LONGEST} bytes, the most that is read"),
        (5, f"the line is longer than {LONGEST} bytes, the most that is read"),
    ]


def test_a_truncated_archive_ends_in_no_line(tmp_path: Path) -> None:
    lines = [b"%d" % number for number in range(200_000)]
    packed = bz2.compress(b"\n".join(lines), 1)
    (tmp_path / "file").write_bytes(packed[: len(packed) // 2])
    found, bad, _ = read(tmp_path / "file")
    assert found == lines[: len(found)]
    assert bad == [(len(found) + 1, "a block of the archive is damaged or cut off")]


def test_a_damaged_block_costs_the_lines_it_holds(tmp_path: Path) -> None:
    lines = [b"%d" % number for number in range(200_000)]
    packed = bytearray(bz2.compress(b"\n".join(lines), 1))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "file").write_bytes(packed)
    found, bad, _ = read(tmp_path / "file")
    assert len(bad) == 1
    assert set(found) <= set(lines)
    assert found[-1] == lines[-1]
    assert len(found) > 150_000
