"""The verbs that run a node, as processes of their own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from waiting import wait_until

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
ROPEWALK = [sys.executable, "-m", "ropewalk"]
LARGE = "".join("x" * 60_000 + "\n" for _ in range(8))  # more than a pipe holds


class Running:
    """A process, and what it says."""

    def __init__(self, *words: object, folder: Path) -> None:
        self.out, self.err = folder / "out", folder / "err"
        folder.mkdir()
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.PIPE, stdout=out, stderr=err
            )

    def says(self, text: str, *, err: bool = False) -> bool:
        return wait_until(lambda: text in (self.err if err else self.out).read_text())

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)


@pytest.fixture
def running(tmp_path: Path) -> Iterator:
    started: list[Running] = []

    def start(*words: object) -> Running:
        started.append(Running(*words, folder=tmp_path / str(len(started))))
        return started[-1]

    start.folder = tmp_path  # type: ignore[attr-defined]
    yield start
    for each in started:
        each.process.kill()
        each.process.wait()
        if each.process.stdin is not None:
            each.process.stdin.close()


def ropewalk(*words: object, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ROPEWALK, *(word if isinstance(word, bytes) else str(word) for word in words)],
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def address_of(node: Running) -> str:
    assert node.says("; Ctrl-C to leave.", err=True), node.err.read_text()
    return node.err.read_text().rpartition(" at ")[2].partition(";")[0]


def test_two_terminals(running) -> None:
    subscriber = running(*ROPEWALK, "subscribe", "news", "--count", 3)
    there = address_of(subscriber)
    done = ropewalk("publish", "news", "--bootstrap", there, said="one\ntwo\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.endswith("published 2 events.\n")
    assert ropewalk("publish", "news", "--message", "three", "--bootstrap", there).returncode == 0
    assert subscriber.process.wait(20) == 0
    assert sorted(subscriber.out.read_text().splitlines()) == ["one", "three", "two"]


def test_a_message_is_one_event_whatever_it_says(running) -> None:
    subscriber = running(*ROPEWALK, "subscribe", "news", "--json-lines", "--count", 2)
    there = address_of(subscriber)
    for message in ("", "two\nlines"):
        done = ropewalk("publish", "news", "--message", message, "--bootstrap", there)
        assert (done.returncode, "published 1 event." in done.stderr) == (0, True)
    assert subscriber.process.wait(20) == 0
    said = {json.loads(line)["payload"] for line in subscriber.out.read_text().splitlines()}
    assert said == {"", "two\nlines"}


def test_a_line_that_never_ends_is_too_large(running) -> None:
    there = address_of(running(*ROPEWALK, "subscribe", "news"))
    publisher = running(*ROPEWALK, "publish", "news", "--bootstrap", there)
    assert publisher.process.stdin is not None
    with suppress(BrokenPipeError):
        for _ in range(64):
            publisher.process.stdin.write(b"x" * 1_000_000)
    assert publisher.process.wait(20) == 3
    assert "line 1: an event of" in publisher.err.read_text()


@contextmanager
def unread(folder: Path, *words: str) -> Iterator[tuple["subprocess.Popen[bytes]", int, Path]]:
    """`subscribe`, eight large events that it has to write, and the other end of the pipe into which it does, from which nobody reads."""
    reader, writer = os.pipe()
    err = folder / "err"
    with err.open("wb") as said:
        subscriber = subprocess.Popen([*ROPEWALK, "subscribe", "news", *words], stdout=writer, stderr=said)
    os.close(writer)
    try:
        assert wait_until(lambda: "; Ctrl-C to leave." in err.read_text())
        there = err.read_text().rpartition(" at ")[2].partition(";")[0]
        assert ropewalk("publish", "news", "--bootstrap", there, said=LARGE).returncode == 0
        yield subscriber, reader, err
    finally:
        subscriber.kill()
        subscriber.wait()
        os.close(reader)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--when-full", "drop-oldest", "--buffer", "1"], r"(\d+) events?, (\d+) dropped, (\d+) not written; left"),
        ([], r"(\d+) events?, (\d+) not written; left"),
    ],
)
def test_what_was_dropped_and_what_could_not_be_written_is_said(tmp_path: Path, words: list[str], said: str) -> None:
    with unread(tmp_path, *words) as (subscriber, _, err):
        subscriber.send_signal(signal.SIGTERM)
        assert subscriber.wait(30) == 0
        found = re.search(said, err.read_text())
        assert found is not None, err.read_text()
        assert sum(map(int, found.groups())) == 8
        assert int(found[2]) > 0


def test_what_has_come_is_written_before_it_leaves(tmp_path: Path) -> None:
    with unread(tmp_path) as (subscriber, reader, err):
        subscriber.send_signal(signal.SIGTERM)
        with os.fdopen(os.dup(reader), "rb") as out:
            assert len(out.read()) == len(LARGE)
        assert subscriber.wait(30) == 0
        assert "8 events; left." in err.read_text()


def test_a_message_is_published_as_the_bytes_that_were_typed(running) -> None:
    subscriber = running(*ROPEWALK, "subscribe", "news", "--count", 1)
    done = ropewalk("publish", "news", "--message", b"\xff\xfe", "--bootstrap", address_of(subscriber))
    assert done.returncode == 0, done.stderr
    assert subscriber.process.wait(20) == 0
    assert subscriber.out.read_bytes() == b"\xff\xfe\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('{"payload": "1"}\nrubbish\n{"payload": "3"}\n', "line 2: it is no event; say"),
        ('{"payload": "1"}\n{"payload": "2", "payload64": "AA=="}\n', "line 2: it is no event; say"),
        ('{"payload": "1"}\n{"payload": "2", "topics": []}\n', "line 2: an event has 0 topics"),
        ('{"payload": "1"}\n{"paiload": "2"}\n', "line 2: it is no event; say"),
        ('{"payload": "1"}\n{"payload": "2", "topics": {"news": 1}}\n', "line 2: it is no event; say"),
        ('{"payload": "1"}\n{"payload": "2", "topics": [1]}\n', "line 2: it is no event; say"),
        ('{"payload": "1"}\n' + "[" * 100_000 + "\n", "line 2: it is no event; say"),
    ],
)
def test_a_line_that_is_no_event_ends_it_and_what_was_done_is_said(running, lines: str, said: str) -> None:
    there = address_of(running(*ROPEWALK, "subscribe", "news"))
    done = ropewalk("publish", "news", "--json-lines", "--bootstrap", there, said=lines)
    assert (done.returncode, said in done.stderr) == (3, True), done.stderr
    assert done.stderr.endswith("; 1 event published before it.\n")


def test_publishing_stops_when_it_is_told_to_however_much_there_is_to_say(running) -> None:
    subscriber = running(*ROPEWALK, "subscribe", "news")
    child = running(*ROPEWALK, "publish", "news", "--bootstrap", address_of(subscriber))
    assert child.process.stdin is not None
    child.process.stdin.write(b"x\n" * 20_000)  # which a pipe holds
    child.process.stdin.close()
    assert subscriber.says("x")
    assert child.stop(signal.SIGTERM) == 143
    assert "interrupted after " in child.err.read_text()


def test_what_cannot_be_written_or_read_is_said(running, tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    err = tmp_path / "said"
    with full.open("wb") as out, err.open("wb") as said:
        subscriber = subprocess.Popen([*ROPEWALK, "subscribe", "news"], stdout=out, stderr=said)
    assert wait_until(lambda: "; Ctrl-C to leave." in err.read_text())
    there = err.read_text().rpartition(" at ")[2].partition(";")[0]
    assert ropewalk("publish", "news", "--message", "x", "--bootstrap", there).returncode == 0
    assert subscriber.wait(20) == 4
    assert (
        "an event could not be written to standard output: No space left on device; 0 were before it."
        in err.read_text()
    )
    node = running(*ROPEWALK, "node", "--subscribe", "news", "--telemetry", full)
    address_of(node)
    assert node.stop() == 4
    assert "telemetry could not be written to /dev/full: No space left on device." in node.err.read_text()
    other = address_of(running(*ROPEWALK, "subscribe", "news"))
    for words, closed in ((["subscribe", "news"], ">&-"), (["publish", "news", "--bootstrap", other], "<&-")):
        done = subprocess.run(
            ["sh", "-c", f"exec {' '.join([*ROPEWALK, *words])} {closed}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, " is closed, so " in done.stderr) == (2, True), done.stderr


def test_who_does_not_get_in_says_why(running) -> None:
    node = running(*ROPEWALK, "node", "--bootstrap", "127.0.0.1:1")
    assert node.says("no bootstrap node could be reached yet (127.0.0.1:1: nobody listens there); trying on.", err=True)


def test_two_nodes_cannot_have_one_identity(running, tmp_path: Path) -> None:
    address_of(running(*ROPEWALK, "node", "--identity", tmp_path / "key"))
    done = ropewalk("node", "--identity", tmp_path / "key")
    assert (done.returncode, "is in use: a node that is there already has it." in done.stderr) == (3, True)


def test_a_list_of_keys_may_have_comments_and_must_have_keys(tmp_path: Path) -> None:
    listed = tmp_path / "allowed"
    for text, why in (("# nobody\n", "names no public key"), ("# ann\nabc # ann\n", "line 2: 'abc' is no public key")):
        listed.write_text(text)
        done = ropewalk("node", "--allow-file", listed)
        assert (done.returncode, why in done.stderr) == (3, True), done.stderr


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    done = ropewalk("node", "--secret-file", secret)
    assert (done.returncode, "can be read by others; chmod 600 it." in done.stderr) == (3, True)


def test_json_lines_carry_bytes_topics_and_who(running) -> None:
    subscriber = running(*ROPEWALK, "subscribe", "news", "sport", "--json-lines", "--count", 2)
    there = address_of(subscriber)
    lines = '{"payload": "späte Nachricht"}\n{"payload64": "/wA=", "topics": ["sport"]}\n'
    assert ropewalk("publish", "news", "--json-lines", "--sign", "--bootstrap", there, said=lines).returncode == 0
    assert subscriber.process.wait(20) == 0
    text, binary = sorted(
        map(json.loads, subscriber.out.read_text().splitlines()), key=lambda each: "payload64" in each
    )
    assert (text["payload"], text["topics"], text["signed"]) == ("späte Nachricht", ["news"], True)
    assert (binary["payload64"], binary["topics"]) == ("/wA=", ["sport"])
    assert text["publisher"] == binary["publisher"]


@pytest.mark.thorough
def test_what_gets_nowhere_is_said_and_the_exit_code_tells(running) -> None:
    there = address_of(running(*ROPEWALK, "subscribe", "news"))
    done = ropewalk("publish", "nothing", "--bootstrap", there, "--message", "x")
    assert done.returncode == 4
    assert (
        "line 1: the event did not get into 'nothing': no member of the topic could be reached, or none had room."
        in done.stderr
    )
    assert done.stderr.endswith("error: the event did not get into all its topics.\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_node_leaves_politely_when_it_is_told_to_stop(running, number: int, tmp_path: Path) -> None:
    node = running(*ROPEWALK, "node", "--subscribe", "news", "--identity", tmp_path / "key")
    there = address_of(node)
    assert set(json.loads(node.out.read_text())) == {"id", "address", "public_key"}
    watcher = running(*ROPEWALK, "node", "--bootstrap", there, "--metrics", 0, "--telemetry", tmp_path / "rows")
    assert address_of(watcher)
    assert node.stop(number) == 0
    assert node.err.read_text().endswith("ropewalk: left.\n")
    assert (tmp_path / "key" / "node.key").exists()


def test_metrics_and_health_are_shown_on_this_machine(running, tmp_path: Path) -> None:
    first = running(*ROPEWALK, "node", "--subscribe", "news")
    port = 17411 + os.getpid() % 1000
    node = running(*ROPEWALK, "node", "--subscribe", "news", "--bootstrap", address_of(first), "--metrics", port)
    address_of(node)

    def page(path: str, host: str = "127.0.0.1") -> tuple[int, str]:
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", headers={"Host": host})
        try:
            with urllib.request.urlopen(asked) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    assert wait_until(lambda: page("health")[0] == 200)
    status, text = page("metrics")
    assert status == 200
    assert "# TYPE ropewalk_links gauge\nropewalk_links 1\n" in text
    assert 'ropewalk_messages_total{kind="seek"}' in text
    assert page("other")[0] == 404
    assert page("metrics", f"localhost:{port}")[0] == page("metrics", f"[::1]:{port}")[0] == 200
    assert page("metrics", f"elsewhere.example:{port}")[0] == page("metrics", "127.0.0.1.example")[0] == 421
    assert ropewalk("publish", "news", "--bootstrap", address_of(first), said="a\nb\nc\n").returncode == 0
    assert wait_until(lambda: "ropewalk_delivered_total 3\n" in page("metrics")[1])
    assert "ropewalk_unread_total 0\n" in page("metrics")[1]  # it passes on what nobody here means to read
    first.process.kill()
    assert wait_until(lambda: page("health")[0] == 503)  # it has lost everybody


def test_a_node_that_has_reached_nobody_is_not_well(running) -> None:
    node = running(*ROPEWALK, "node", "--bootstrap", "127.0.0.1:1", "--metrics", 0)
    assert node.says("metrics at http://", err=True)
    place = node.err.read_text().partition("metrics at ")[2].partition("/metrics")[0]
    with pytest.raises(urllib.error.HTTPError) as refused, urllib.request.urlopen(f"{place}/health"):
        pass
    assert refused.value.code == 503
    assert json.loads(refused.value.read())["ok"] is False
    refused.value.close()


def test_whoever_does_not_read_does_not_stop_a_node_from_leaving(running, tmp_path: Path) -> None:
    """Its events go into a pipe that nobody empties."""
    reading, writing = os.pipe()
    err = tmp_path / "said"
    with err.open("wb") as said:
        process = subprocess.Popen(
            [*ROPEWALK, "subscribe", "news", "--when-full", "drop-oldest"], stdout=writing, stderr=said
        )
    os.close(writing)
    try:
        assert wait_until(lambda: "; Ctrl-C" in err.read_text())
        there = err.read_text().rpartition(" at ")[2].partition(";")[0]
        lines = "".join(f"{number} {'x' * 5000}\n" for number in range(40))  # more than a pipe holds
        assert ropewalk("publish", "news", "--bootstrap", there, said=lines).returncode == 0
        assert ropewalk("publish", "news", "--bootstrap", there, said=lines).returncode == 0  # it still listens
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(reading)


def test_publishing_that_is_stopped_says_so(running) -> None:
    subscriber = running(*ROPEWALK, "subscribe", "news")
    publisher = running(*ROPEWALK, "publish", "news", "--bootstrap", address_of(subscriber))
    assert publisher.process.stdin is not None
    publisher.process.stdin.write(b"one\n")
    publisher.process.stdin.flush()
    assert subscriber.says("one")
    assert publisher.stop(signal.SIGINT) == 130
    assert "interrupted after 1 event: what came after that was not published." in publisher.err.read_text()


def test_telemetry_is_rows_of_tables(running, tmp_path: Path) -> None:
    rows = tmp_path / "new folder" / "rows.jsonl"
    node = running(*ROPEWALK, "node", "--subscribe", "news", "--telemetry", rows, "--period", 0.5)
    there = address_of(node)
    assert ropewalk("publish", "news", "--message", "x", "--bootstrap", there).returncode == 0
    assert wait_until(lambda: '"round 2"' in rows.read_text())
    assert node.stop() == 0
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    tables = {row["table"] for row in found}
    assert {"subscriptions", "deliveries", "connections", "traffic"} <= tables
    (delivery,) = [row for row in found if row["table"] == "deliveries"]
    assert delivery["hops"] == 1


def test_what_cannot_be_written_or_shown_is_said_before_a_node_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = ropewalk("node", "--telemetry", tmp_path / "file" / "rows.jsonl")
    assert (done.returncode, "error: telemetry cannot be written to" in done.stderr) == (4, True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = ropewalk("node", "--metrics", port)
    said = f"error: metrics cannot be shown at 127.0.0.1:{port}: address already in use.\n"
    assert (done.returncode, done.stderr.endswith(said)) == (4, True)


def test_a_file_says_which_topics_to_subscribe_to(running, tmp_path: Path) -> None:
    config = tmp_path / "node.toml"
    config.write_text('subscribe = ["news"]\n')
    subscriber = running(*ROPEWALK, "subscribe", "--config", config, "--count", 1)
    assert ropewalk("publish", "news", "--message", "x", "--bootstrap", address_of(subscriber)).returncode == 0
    assert subscriber.process.wait(20) == 0
    assert subscriber.err.read_text().endswith("ropewalk: 1 event; left.\n")


def test_who_subscribes_or_publishes_can_be_watched_as_a_node_can(running, tmp_path: Path) -> None:
    config = tmp_path / "node.toml"
    config.write_text('subscribe = ["news"]\ntelemetry = "a.jsonl"\nmetrics = 0\n')
    subscriber = running(*ROPEWALK, "subscribe", "--config", config, "--count", 1)
    there = address_of(subscriber)
    assert subscriber.says("metrics at http://127.0.0.1:", err=True)
    rows = tmp_path / "rows" / "b.jsonl"
    assert ropewalk("publish", "news", "--message", "x", "--bootstrap", there, "--telemetry", rows).returncode == 0
    assert subscriber.process.wait(20) == 0
    found = {
        name: [json.loads(line)["table"] for line in (tmp_path / name).read_text().splitlines()]
        for name in ("a.jsonl", "rows/b.jsonl")
    }
    assert "deliveries" in found["a.jsonl"]
    assert "publications" in found["rows/b.jsonl"]


@pytest.mark.parametrize(("more", "says"), [([], True), (["--secret-file", "secret"], False)])
def test_who_lets_in_everybody_that_reaches_it_says_so(running, tmp_path: Path, more: list[str], says: bool) -> None:
    (tmp_path / "secret").write_text("some secret")
    (tmp_path / "secret").chmod(0o600)
    words = [tmp_path / word if word == "secret" else word for word in more]
    node = running(*ROPEWALK, "node", "--listen", "0.0.0.0:0", "--advertise", "node.example", *words)
    assert address_of(node)
    assert ("everybody who reaches this node gets in" in node.err.read_text()) == says


def test_a_file_says_what_options_say_and_options_count_more(running, tmp_path: Path) -> None:
    config = tmp_path / "node.toml"
    config.write_text('listen = "127.0.0.1:0"\nsubscribe = ["news"]\nidentity = "key"\nperiod = 1\nsign = true\n')
    node = running(*ROPEWALK, "node", "--config", config)
    assert address_of(node)
    assert (tmp_path / "key" / "node.key").exists()
    config.write_text("lisen = 1\n")
    done = ropewalk("node", "--config", config)
    assert (done.returncode, "says 'lisen', which means nothing here; it may say: listen" in done.stderr) == (3, True)
    config.write_text("listen = 1\n")
    done = ropewalk("node", "--config", config)
    assert (done.returncode, "says listen = 1, which must be a text in quotes." in done.stderr) == (3, True)
    config.write_text("bootstrap = [1]\n")
    done = ropewalk("node", "--config", config)
    said = "says bootstrap = [1], which must be a list of texts in quotes."
    assert (done.returncode, said in done.stderr) == (3, True)
    for text, why in (
        ("metrics = 70000", "must be a port, from 0 to 65535."),
        ("metrics = true", "must be a whole number."),
        ('sign = "yes"', "must be true or false."),
    ):
        config.write_text(f"{text}\n")
        done = ropewalk("node", "--config", config)
        assert (done.returncode, why in done.stderr) == (3, True), done.stderr


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["publish", "news"], 2, "nobody would hear it: add --bootstrap HOST:PORT of a node that is there."),
        (["subscribe", "news", "--listen", "nowhere"], 2, "'nowhere' is no place to call: say HOST:PORT."),
        (["subscribe", "news", "--listen", "0.0.0.0:0"], 2, "must say where others reach it; add --advertise"),
        (["node", "--authority", "x"], 2, "--authority alone does not do: give --authority, --certificate and --key."),
        (["node", "--secret-file", "no-such-file"], 3, "no-such-file cannot be read: No such file or directory."),
        (["node", "--listen", "a..b:0"], 2, "'a..b:0' is no place to call: say HOST:PORT."),
        (["node", "--advertise", "a b"], 2, "'a b:0' is no place to call: say HOST:PORT."),
        (["node", "--bootstrap", "http://127.0.0.1:7"], 2, "'http://127.0.0.1:7' is no place to call: say HOST:PORT."),
        (["node", "--advertise", ""], 2, "'' is no place at which others reach a node: say HOST or HOST:PORT."),
        (["node", "--listen", "none"], 2, "a node that nobody can call and that calls nobody is alone"),
        (["node", "--subscribe", ""], 2, "a topic is '', but must have a name, as text."),
        (["node", "--heartbeat", "nan"], 2, "heartbeat is nan, but must be above 0 seconds, and at most 60."),
        (["node", "--heartbeat", "0"], 2, "heartbeat is 0.0, but must be above 0 seconds, and at most 60."),
    ],
)
def test_what_makes_no_sense_is_one_sentence(words: list[str], code: int, why: str) -> None:
    done = ropewalk(*words)
    assert (done.returncode, why in done.stderr) == (code, True), done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.thorough
def test_a_certificate_of_the_cluster_lets_in_and_nothing_else_does(running, tmp_path: Path) -> None:
    certified = cluster_of(tmp_path, ["a", "b"])
    first = running(*ROPEWALK, "subscribe", "news", "--count", 1, *certified["a"])
    there = address_of(first)
    stranger = ropewalk("publish", "news", "--message", "no", "--bootstrap", there)
    assert stranger.returncode == 4
    assert "did not get into 'news': no bootstrap node could be reached (" in stranger.stderr
    assert ropewalk("publish", "news", "--message", "yes", "--bootstrap", there, *certified["b"]).returncode == 0
    assert first.process.wait(20) == 0
    assert first.out.read_text() == "yes\n"


def cluster_of(folder: Path, names: list[str]) -> dict[str, list[str]]:
    """An authority, and certificates for some nodes, made as docs/live.md says."""
    run = lambda *words: subprocess.run(words, cwd=folder, check=True, capture_output=True)  # noqa: E731
    run(
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ed25519",
        "-nodes",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=authority",
    )
    told = {}
    for name in names:
        run(
            "openssl",
            "req",
            "-newkey",
            "ed25519",
            "-nodes",
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.csr",
            "-subj",
            f"/CN={name}",
        )
        run(
            "openssl",
            "x509",
            "-req",
            "-in",
            f"{name}.csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-out",
            f"{name}.pem",
        )
        (folder / f"{name}.key").chmod(0o600)
        told[name] = [
            "--authority", str(folder / "ca.pem"), "--certificate", str(folder / f"{name}.pem"), "--key", str(folder / f"{name}.key"),
        ]  # fmt: skip
    return told


# Examples


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fan_in", "readings/humidity: 80 readings, mean 21.50\nreadings/temperature: 80 readings, mean 21.50\n"),
        ("shared_work", "60 jobs done, the sum of squares is 70210\n"),
    ],
)
def test_examples_run(name: str, expected: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(expected)


def test_people_chat(running) -> None:
    ann = running(sys.executable, EXAMPLES / "chat.py", "ann")
    assert ann.says("ann is in lobby, at")
    there = ann.out.read_text().strip().rpartition(" ")[2]
    bob = running(sys.executable, EXAMPLES / "chat.py", "bob", "--bootstrap", there)
    assert bob.says("bob is in lobby")
    for said, speaker, other in (("hello", bob, ann), ("good day", ann, bob)):
        assert speaker.process.stdin is not None
        speaker.process.stdin.write(said.encode() + b"\n")
        speaker.process.stdin.flush()
        assert other.says(said)
    assert bob.process.stdin is not None
    bob.process.stdin.close()
    assert bob.process.wait(20) == 0
