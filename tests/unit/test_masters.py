import socket

import pytest

from ropewalk.errors import RunError, UsageError
from ropewalk.tables.masters import Kind, Master, recognised, refuse_unanswered


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("local", "local"),
        ("local[*]", "local"),
        ("local[2]", "local"),
        ("local[2,3]", "local"),
        ("spark://head:7077", "standalone"),
        ("spark://a:7077,b:7078", "standalone"),
        ("spark://[::1]:7077", "standalone"),
        ("yarn", "yarn"),
        ("k8s://https://api:6443", "kubernetes"),
        ("sc://head", "connect"),
        ("sc://head:443/;use_ssl=true", "connect"),
    ],
)
def test_every_kind_is_recognised(url: str, kind: Kind) -> None:
    assert recognised(url, "--master") == Master(url, kind)


@pytest.mark.parametrize(
    "url",
    ["", "Local", "local[]", "local[0]", "local[two]", "local[2", "localhost", "spark://head", "spark://:7077",
     "spark://head:7077/", "spark://a:1,", "http://head:7077", "yarn-client", "mesos://head:5050", "k8s://", "sc://"],
)  # fmt: skip
def test_nonsense_is_refused_with_what_would_do(url: str) -> None:
    with pytest.raises(UsageError, match=r"where Spark cannot run; give local\[2\], spark://host:7077, yarn"):
        recognised(url, "--master")


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("spark://127.0.0.1:1", True),
        ("spark://localhost:1,[::1]:2", True),
        ("spark://localhost:1,head:2", False),
        ("local", False),
        ("yarn", False),
    ],
)
def test_a_cluster_of_this_machine_is_known_by_its_address(url: str, here: bool) -> None:
    assert recognised(url, "--master").on_this_machine == here


def test_a_master_that_does_not_answer_is_said_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refuse_unanswered(recognised(f"spark://127.0.0.1:{port}", "--master"))
    dead = f"spark://127.0.0.1:{port}"
    with pytest.raises(RunError, match=f"no Spark master answers at {dead}"):
        refuse_unanswered(recognised(dead, "--master"))
    refuse_unanswered(recognised("yarn", "--master"))


def test_one_master_that_answers_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        masters = recognised(f"spark://127.0.0.1:1,127.0.0.1:{port}", "--master")
        refuse_unanswered(masters)
    with pytest.raises(RunError, match="answers"):
        refuse_unanswered(masters)  # now that it is closed
