"""Files in parts: whatever the packing and wherever the cuts, the parts together are the file."""

import bz2
import gzip
import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropewalk.errors import InputError
from ropewalk.workloads.reading import files
from ropewalk.workloads.reading.files import Gap, Part, files_of, head_of, parts_of, pieces


def own(part: Part) -> list[bytes | Gap]:
    return [piece for mine, piece in pieces(part) if mine]


def bytes_of(pieces_: list[bytes | Gap]) -> bytes:
    return b"".join(piece for piece in pieces_ if isinstance(piece, bytes))


def joined(parts: list[Part]) -> bytes:
    return b"".join(bytes_of(own(part)) for part in parts)


@cache
def noise(size: int, seed: int = 1) -> bytes:
    """Bytes that compress a little."""
    return random.Random(seed).randbytes(size).translate(bytes(b"abcdefgh \n"[byte % 10] for byte in range(256)))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PLAIN_PART", 1000)
    monkeypatch.setattr(files, "BZIP2_PART", 40_000)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gz", "bz2"])
def test_parts_together_are_the_file(small_parts: None, tmp_path: Path, pack) -> None:
    text = noise(2_500_000)
    (tmp_path / "file").write_bytes(pack(text))
    parts = parts_of([tmp_path / "file"])
    assert joined(parts) == text
    assert (len(parts) == 1) == (pack is gzip.compress)


def test_a_part_goes_on_past_its_end(small_parts: None, tmp_path: Path) -> None:
    text = noise(5000)
    (tmp_path / "file").write_bytes(text)
    second = parts_of([tmp_path / "file"])[1]
    assert b"".join(piece for _, piece in pieces(second) if isinstance(piece, bytes)) == text[1000:]


def test_archives_of_several_streams(small_parts: None, tmp_path: Path) -> None:
    text = [noise(30_000, seed) for seed in range(4)]
    (tmp_path / "b").write_bytes(b"".join(bz2.compress(piece, level) for level, piece in enumerate(text, 1)))
    (tmp_path / "g").write_bytes(b"".join(gzip.compress(piece) for piece in text) + bytes(512))
    assert joined(parts_of([tmp_path / "b"])) == b"".join(text)
    assert joined(parts_of([tmp_path / "g"])) == b"".join(text)
    assert not any(isinstance(piece, Gap) for part in parts_of([tmp_path / "g"]) for piece in own(part))


@settings(max_examples=30)
@given(cut=st.integers(1, 10**9), level=st.integers(1, 9))
def test_a_block_at_any_bit_is_read(tmp_path_factory: pytest.TempPathFactory, cut: int, level: int) -> None:
    text = noise(1 + cut % 350_000, seed=cut)
    file = tmp_path_factory.mktemp("bits") / "file"
    file.write_bytes(bz2.compress(text, level))
    assert joined(parts_of([file])) == text


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gz", "bz2"])
def test_a_truncated_archive_gives_what_came_before_and_a_gap(tmp_path: Path, pack) -> None:
    text = noise(2_500_000)
    packed = pack(text)
    (tmp_path / "file").write_bytes(packed[: len(packed) * 3 // 4])
    found = own(parts_of([tmp_path / "file"])[0])
    assert isinstance(found[-1], Gap)
    before = b"".join(piece for piece in found if isinstance(piece, bytes))
    assert text.startswith(before)
    assert len(before) > len(text) // 4


def test_a_damaged_block_costs_that_block_only(tmp_path: Path) -> None:
    text = noise(2_500_000)
    packed = bytearray(bz2.compress(text))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "file").write_bytes(packed)
    found = own(parts_of([tmp_path / "file"])[0])
    (gap,) = [number for number, piece in enumerate(found) if isinstance(piece, Gap)]
    assert 0 < gap < len(found) - 1
    assert text.startswith(bytes_of(found[:gap]))
    assert text.endswith(bytes_of(found[gap + 1 :]))


@pytest.mark.parametrize("at", [-6, 0.5], ids=["checksum", "middle"])
def test_a_damaged_gzip_gives_what_comes_before(tmp_path: Path, at: float) -> None:
    text = noise(300_000)
    packed = bytearray(gzip.compress(text))
    place = int(at) if at < 0 else int(at * len(packed))
    packed[place : place + 2] = bytes(255 - byte for byte in packed[place : place + 2])
    (tmp_path / "file").write_bytes(packed)
    *before, gap = own(parts_of([tmp_path / "file"])[0])
    assert isinstance(gap, Gap)
    assert gap.reason.startswith("the archive is damaged from here on (Error -3")
    joined_before = b"".join(piece for piece in before if isinstance(piece, bytes))
    assert len(joined_before) >= (len(text) if at < 0 else 0.45 * len(text))
    assert text.startswith(joined_before[: int(0.45 * len(text))])


def test_half_a_character_at_the_end_is_a_gap(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("a,b\n".encode("utf-16") + b"x")
    assert own(parts_of([tmp_path / "file"])[0]) == [b"a,b\n", Gap("the file ends in the middle of a character")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-8"])
def test_text_in_utf_16_is_read_as_utf_8(tmp_path: Path, encoding: str) -> None:
    text = "<тема>ü𝄞</тема>\n" * 100_000
    (tmp_path / "file").write_bytes(bz2.compress(text.encode(encoding)))
    assert joined(parts_of([tmp_path / "file"])) == text.encode()
    assert head_of(tmp_path / "file", 8) == text.encode()[:8]


def test_an_empty_file_is_one_empty_part(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert joined(parts_of([tmp_path / "file"])) == b""


def test_what_cannot_be_unpacked_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\x28\xb5\x2f\xfd and more")
    with pytest.raises(InputError, match="packed with zstd, which is not read; give it plain"):
        parts_of([tmp_path / "file"])


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    for name in ("b", "a", ".hidden", "_SUCCESS"):
        (tmp_path / name).touch()
    assert files_of([tmp_path]) == [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(InputError, match="is named twice"):
        files_of([tmp_path, tmp_path / "a"])
    with pytest.raises(InputError, match="does not exist"):
        files_of([tmp_path / "nothing"])
    with pytest.raises(InputError, match="no file that can be read from any place"):
        files_of([Path("/dev/null")])
    (tmp_path / "sub").mkdir()
    with pytest.raises(InputError, match="sub is a folder inside a folder"):
        files_of([tmp_path])
