"""Promise 22 at the HTTP listener: addresses, tokens, Host and Origin."""

import json
import socket

import pytest

from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpListener
from tests.broker_core.listeners.http.raw import raw, read_all, status_of


def _has_ipv6():
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.promise("22")
def test_promise_22_the_listener_is_on_loopback_unless_told_otherwise(listener):
    assert listener.address == "127.0.0.1"
    other = _own_address()
    if other is not None:
        with pytest.raises(OSError):
            socket.create_connection((other, listener.port), timeout=2)


@pytest.mark.promise("22")
def test_promise_22_another_address_needs_a_token(opened, connect):
    with BrokerHost() as host:
        with pytest.raises(BrokerError) as caught:
            HttpListener(host, address="0.0.0.0")
        assert caught.value.code is ErrorCode.INVALID_CONFIG
        token = "a token of some length"
        with HttpListener(host, address="0.0.0.0", access=Access.of_token(token)) as listener:
            assert connect(listener).get("/stats").status == 401
            assert connect(listener, token="another token, as long").get("/stats").status == 401
            assert connect(listener, token=token).get("/stats").status == 200
            assert connect(listener).get("/health").status == 200
            answer = connect(listener).post("/produce", {"topic": "a", "value": 1})
            assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6 loopback")
def test_promise_22_the_loopback_of_ipv6_is_one_too(opened):
    listener = opened(address="::1")
    assert listener.url == f"http://[::1]:{listener.port}"
    with socket.create_connection(("::1", listener.port), timeout=10) as found:
        found.sendall(f"GET /stats HTTP/1.1\r\nHost: [::1]:{listener.port}\r\nConnection: close\r\n\r\n".encode())
        assert status_of(read_all(found)) == 200


@pytest.mark.promise("22")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (["Host: evil.example"], 403),
        (["Host: evil.example:80"], 403),
        (["Host: localhost", "Origin: http://evil.example"], 403),
        (["Host: localhost", "Origin: null"], 403),
        (["Host: localhost"], 200),
        (["Host: localhost", "Origin: http://localhost"], 200),
        (["Host: localhost", "Origin: http://localhost", "Origin: http://evil.example"], 403),
    ],
)
def test_promise_22_rebinding_host_and_origin_are_checked(listener, headers, status):
    with raw(listener) as found:
        found.sendall("\r\n".join(["GET /stats HTTP/1.1", *headers, "Connection: close", "", ""]).encode())
        assert status_of(read_all(found)) == status


def test_promise_22_a_page_of_another_site_cannot_publish_with_a_simple_request(call):
    call.done("POST", "/topics/register", {"topic": "orders"})
    body = json.dumps({"topic": "orders", "value": "x"}).encode()
    assert call.post("/produce", body, headers={"Content-Type": "text/plain"}).status == 415
    assert call.get("/stats").json["topics"] == {"orders": 0}


def _own_address():
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("192.0.2.1", 9))  # sends nothing
        found = probe.getsockname()[0]
    except OSError:
        return None
    finally:
        probe.close()
    return None if found.startswith("127.") or found == "0.0.0.0" else found
