import pytest

from ropewalk.engines.live.options import advertised


@pytest.mark.parametrize(
    ("host", "said", "found"),
    [
        ("127.0.0.1", None, "127.0.0.1:7"),
        ("::1", None, "[::1]:7"),
        ("0.0.0.0", "example.org", "example.org:7"),
        ("0.0.0.0", "example.org:9", "example.org:9"),
        ("::", "2001:db8::1", "[2001:db8::1]:7"),
        ("::", "[2001:db8::1]", "[2001:db8::1]:7"),
        ("::", "[2001:db8::1]:9", "[2001:db8::1]:9"),
    ],
)
def test_where_others_reach_a_node(host: str, said: str | None, found: str) -> None:
    assert advertised(host, 7, said) == found
