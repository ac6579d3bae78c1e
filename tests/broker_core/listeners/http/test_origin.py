"""Host and Origin (promise 22: rebinding)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.gate import OriginGuard

# (bound to, Host, Origin, may come in)
TABLE = [
    ("127.0.0.1", "127.0.0.1:8080", None, True),
    ("127.0.0.1", "localhost:8080", None, True),
    ("127.0.0.1", "LocalHost", None, True),
    ("127.0.0.1", "[::1]:8080", None, True),
    ("127.0.0.1", "evil.example:8080", None, False),
    ("127.0.0.1", "127.0.0.1.evil.example", None, False),
    ("127.0.0.1", "localhost.evil.example:8080", None, False),
    ("127.0.0.1", "192.168.1.5:8080", None, False),
    ("127.0.0.1", None, None, False),
    ("127.0.0.1", "", None, False),
    ("127.0.0.1", "localhost@evil.example", None, False),
    ("127.0.0.1", "localhost/evil", None, False),
    ("127.0.0.1", "localhost:99999999", None, False),
    ("127.0.0.1", "[::1", None, False),
    ("127.0.0.1", "localhost:8080", "http://localhost:8080", True),
    ("127.0.0.1", "localhost:8080", "http://localhost:3000", False),
    ("127.0.0.1", "localhost:8080", "https://localhost:8080", False),
    ("127.0.0.1", "localhost:8080", "http://evil.example", False),
    ("127.0.0.1", "localhost:8080", "null", False),
    ("127.0.0.1", "localhost:8080", "http://127.0.0.1:8080", False),
    ("127.0.0.1", "localhost", "http://localhost", True),
    ("127.0.0.1", "localhost:8080", "https://board.example", True),
    ("0.0.0.0", "192.168.1.5:8080", None, True),
    ("0.0.0.0", "broker.example:8080", None, True),
    ("0.0.0.0", "evil.example:8080", None, False),
    ("192.168.1.5", "192.168.1.5", "http://192.168.1.5", True),
]


@pytest.mark.promise("22")
@pytest.mark.parametrize(("address", "host", "origin", "allowed"), TABLE)
def test_promise_22_host_and_origin(address, host, origin, allowed):
    guard = OriginGuard(
        address, names=["broker.example"] if address == "0.0.0.0" else [], origins=["https://board.example"]
    )
    if allowed:
        guard.check(host, origin)
    else:
        with pytest.raises(BrokerError) as caught:
            guard.check(host, origin)
        assert caught.value.code is ErrorCode.FORBIDDEN


@given(st.text(max_size=60), st.none() | st.text(max_size=60))
def test_whatever_comes_the_answer_is_yes_or_forbidden(host, origin):
    try:
        OriginGuard("127.0.0.1").check(host, origin)
    except BrokerError as error:
        assert error.code is ErrorCode.FORBIDDEN
