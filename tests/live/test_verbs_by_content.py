"""`subscribe --where` and `publish --content` as somebody types them: refusals come before a node runs."""

from pathlib import Path

import pytest

from ropewalk.cli.main import main

KATO = ["--protocol", "kato", "--space", "stock:8,price:0:100:10"]
GONE = ["--bootstrap", "127.0.0.1:1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["subscribe", *KATO], "say which topics, or with --where"),
        (["subscribe", *KATO, "--where", "price <"], "cannot be read"),
        (["subscribe", *KATO, "--where", "stock == ACME"], "compares stock with ACME: put words into quotes"),
        (["subscribe", "--where", "price < 3"], "say --protocol kato, not stan"),
        (["subscribe", "--protocol", "kato", "--where", "price < 3"], "say --space stock:64"),
        (["subscribe", "--space", "price:0:1:2", "news"], "space plays no part in stan"),
        (["node", *KATO, "--where", "volume < 3"], "volume is not in the space"),
        (["publish", *KATO, *GONE, "--content", "[]"], "must be JSON: attributes by name"),
        (["publish", *KATO, *GONE, "--content", '{"stock": "ACME"}'], "says nothing of price"),
        (["publish", *KATO, *GONE, "news", "--content", "{}"], "one of them"),
        (["publish", *KATO, *GONE], "say the topics of events, or with --content"),
    ],
)
def test_what_makes_no_sense_is_said_before_a_node_runs(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
    assert "Ctrl-C to leave" not in err


def test_filters_of_a_configuration_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "node.toml"
    config.write_text('protocol = "kato"\nspace = "price:0:100:10"\nwhere = ["stock == 3"]\n')
    assert main(["subscribe", "--config", str(config)]) == 2
    assert "stock is not in the space" in capsys.readouterr().err
    config.write_text('protocol = "kato"\nspace = 3\n')
    assert main(["subscribe", "--config", str(config)]) == 3
    assert "must be a text in quotes" in capsys.readouterr().err
