import json
from pathlib import Path

import pytest

from ropewalk.errors import InputError, UsageError
from ropewalk.tables.schema import SUBSCRIPTIONS, VIEWS
from ropewalk.tables.store import Manifest, Store, Tally, digest_of, drafted


def manifest(seed: int = 1) -> Manifest:
    return Manifest(name="u", made_by="a test", seed=seed, settings={"nodes": 3}, defaults={"overlay": "fixed"})


def make(path: Path, *, seed: int = 1, overwrite: bool = False) -> None:
    with drafted(path, manifest(seed), overwrite=overwrite) as draft:
        (draft.path / "subscriptions").mkdir()
        draft.manifest.tables["subscriptions"] = Tally(3, "00")


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_store_says_what_it_was_made_from(tmp_path: Path) -> None:
    make(tmp_path / "out")
    found = Store.open(tmp_path / "out").manifest
    assert (found.name, found.made_by, found.seed) == ("u", "a test", 1)
    assert (found.settings, found.defaults) == ({"nodes": 3}, {"overlay": "fixed"})
    assert found.tables == {"subscriptions": Tally(3, "00")}
    assert found.digest == digest_of({"subscriptions": "00"})


def test_the_same_store_has_the_same_manifest_to_the_byte(tmp_path: Path) -> None:
    make(tmp_path / "a")
    make(tmp_path / "b")
    assert (tmp_path / "a" / "manifest.json").read_bytes() == (tmp_path / "b" / "manifest.json").read_bytes()


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_what_fails_half_way_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    def fail() -> None:
        with drafted(tmp_path / "out", manifest()) as draft:
            (draft.path / "subscriptions").mkdir()
            raise failure

    with pytest.raises(failure):
        fail()
    assert leftovers(tmp_path) == []


def test_what_fails_half_way_leaves_the_old_store(tmp_path: Path) -> None:
    make(tmp_path / "out", seed=1)

    def fail() -> None:
        with drafted(tmp_path / "out", manifest(seed=2), overwrite=True):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert Store.open(tmp_path / "out").manifest.seed == 1
    assert leftovers(tmp_path) == ["out"]


def test_a_taken_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    make(tmp_path / "out")
    with pytest.raises(UsageError, match=r"already holds a store.*--overwrite"):
        make(tmp_path / "out")


def test_overwriting_replaces_a_store(tmp_path: Path) -> None:
    make(tmp_path / "out", seed=1)
    make(tmp_path / "out", seed=2, overwrite=True)
    assert Store.open(tmp_path / "out").manifest.seed == 2
    assert leftovers(tmp_path) == ["out"]


def test_a_folder_of_the_users_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="left alone"):
        make(tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "thesis.tex").read_text() == "mine"


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    make(tmp_path / "out")
    assert Store.open(tmp_path / "out").manifest.seed == 1


def test_an_unwritable_place_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        make(tmp_path / "file" / "out")


def test_what_is_not_a_store_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        Store.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        Store.open(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', '"hello"', "null"])
def test_a_broken_manifest_is_said_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="is not a manifest"):
        Store.open(tmp_path)


def test_a_store_of_a_later_format_is_not_misread(tmp_path: Path) -> None:
    make(tmp_path / "out")
    file = tmp_path / "out" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 2}))
    with pytest.raises(InputError, match="has format 2"):
        Store.open(tmp_path / "out")


def test_a_missing_table_is_said_so(tmp_path: Path) -> None:
    make(tmp_path / "out")
    store = Store.open(tmp_path / "out")
    assert store.folder_of(SUBSCRIPTIONS) == tmp_path / "out" / "subscriptions"
    with pytest.raises(InputError, match="has no table 'views'; it holds: subscriptions"):
        store.folder_of(VIEWS)


def test_the_faster_of_two_makers_wins(tmp_path: Path) -> None:
    def slow() -> None:
        with drafted(tmp_path / "out", manifest(seed=1)):
            make(tmp_path / "elsewhere", seed=2)
            (tmp_path / "elsewhere").rename(tmp_path / "out")

    with pytest.raises(UsageError, match="already holds a store"):
        slow()
    assert Store.open(tmp_path / "out").manifest.seed == 2
    assert leftovers(tmp_path) == ["out"]
