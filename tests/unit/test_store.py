import json
import subprocess
import sys
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


def manifest_by(verb: str) -> Manifest:
    return Manifest(name="r", made_by=verb, seed=1, settings={})


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


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', '"hello"', "null", "\udcff"])
def test_a_broken_manifest_is_said_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_bytes(text.encode(errors="surrogateescape"))
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


def test_what_one_verb_made_another_does_not_replace(tmp_path: Path) -> None:
    make(tmp_path / "out")
    with (
        pytest.raises(UsageError, match="holds what `a test` made, which `simulate stan` does not replace"),
        drafted(tmp_path / "out", manifest_by("simulate stan"), overwrite=True),
    ):
        pass


def test_a_link_to_a_store_is_followed(tmp_path: Path) -> None:
    make(tmp_path / "real", seed=1)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    make(tmp_path / "link", seed=2, overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert Store.open(tmp_path / "real").manifest.seed == 2
    assert leftovers(tmp_path) == ["link", "real"]


def test_folders_made_on_the_way_go_again(tmp_path: Path) -> None:
    def fail() -> None:
        with drafted(tmp_path / "a" / "b" / "out", manifest()):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert leftovers(tmp_path) == []


def a_dead_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        pass
    return child.pid


def test_what_a_killed_maker_left_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / f".out.draft-{a_dead_process()}" / "subscriptions").mkdir(parents=True)
    (tmp_path / ".out.draft-1").mkdir()  # of a process that lives: somebody else's business
    make(tmp_path / "out")
    assert leftovers(tmp_path) == [".out.draft-1", "out"]


def test_a_store_that_was_being_replaced_when_its_maker_was_killed_comes_back(tmp_path: Path) -> None:
    make(tmp_path / "out", seed=1)
    (tmp_path / "out").rename(tmp_path / f".out.replaced-{a_dead_process()}")
    with pytest.raises(UsageError, match="already holds a store"):
        make(tmp_path / "out", seed=2)
    assert Store.open(tmp_path / "out").manifest.seed == 1
    assert leftovers(tmp_path) == ["out"]


def test_a_failed_swap_puts_the_old_store_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "out", seed=1)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if ".draft-" in self.name:
            raise OSError("no more inodes")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="no more inodes"):
        make(tmp_path / "out", seed=2, overwrite=True)
    assert Store.open(tmp_path / "out").manifest.seed == 1
    assert leftovers(tmp_path) == ["out"]
