"""Progress: a bar on a terminal, plain lines elsewhere; never on standard output."""

import os
import pty
import re
import subprocess
import sys
import threading

import pytest

from ropewalk.cli import talk
from ropewalk.cli.talk import Talk

PHASE = """
import threading
from ropewalk.cli import talk
talk.POLL_EVERY = 0.01
polled, shown = threading.Event(), talk.Talk()
seen = []
def tasks():
    seen.append(1)
    if len(seen) > 20: polled.set()
    return 3, 12
shown.tasks = tasks
with shown.phase("lay the rope"):
    assert polled.wait(20)
"""


def test_on_a_terminal_a_bar_moves_and_goes() -> None:
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", PHASE], stderr=theirs, stdout=subprocess.PIPE, env=environment
    ) as child:
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:  # what Linux says instead of an end of file
            pass
        assert child.stdout is not None
        assert child.stdout.read() == b""
    os.close(ours)
    assert child.returncode == 0, said
    text = said.decode()
    assert "━" in text
    assert text.count("lay the rope") > 2
    last = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", text).rstrip().splitlines()[-1]
    assert last.startswith("ropewalk: lay the rope: ")


def test_elsewhere_lines_say_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk, "LINE_EVERY", 0.01)
    shown = Talk()
    polled = threading.Event()

    def tasks() -> tuple[int, int]:
        polled.set()
        return 3, 12

    shown.tasks = tasks
    with shown.phase("lay the rope"):
        assert polled.wait(20)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0] == "ropewalk: lay the rope ..."
    assert any(line.startswith("ropewalk: lay the rope: 3 of 12 tasks, ") for line in lines)
    assert lines[-1].startswith("ropewalk: lay the rope: ")
    assert set(shown.seconds) == {"lay the rope"}


def test_a_phase_that_fails_is_not_said_to_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Talk()

    def fail() -> None:
        with shown.phase("lay the rope"):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert shown.seconds == {}
    assert capsys.readouterr().err == "ropewalk: lay the rope ...\n"
