"""Promise 22 at the HTTP door: addresses, tokens, Host and Origin."""

import json
import socket

import pytest

from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpDoor
from tests.broker_core.listeners.http.raw import raw, read_all, status_of


def _has_ipv6():
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_promise_22_the_door_is_on_loopback_unless_told_otherwise(door):
    assert door.address == "127.0.0.1"
    other = _own_address()
    if other is not None:
        with pytest.raises(OSError):
            socket.create_connection((other, door.port), timeout=2)


def test_promise_22_another_address_needs_a_token(opened, connect):
    with BrokerHost() as host:
        with pytest.raises(BrokerError) as caught:
            HttpDoor(host, address="0.0.0.0")
        assert caught.value.code is ErrorCode.INVALID_CONFIG
        token = "a token of some length"
        with HttpDoor(host, address="0.0.0.0", access=Access.of_token(token)) as door:
            assert connect(door).get("/stats").status == 401
            assert connect(door, token="another token, as long").get("/stats").status == 401
            assert connect(door, token=token).get("/stats").status == 200
            assert connect(door).get("/health").status == 200
            answer = connect(door).post("/produce", {"topic": "a", "value": 1})
            assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6 loopback")
def test_promise_22_the_loopback_of_ipv6_is_one_too(opened):
    door = opened(address="::1")
    assert door.url == f"http://[::1]:{door.port}"
    with socket.create_connection(("::1", door.port), timeout=10) as found:
        found.sendall(f"GET /stats HTTP/1.1\r\nHost: [::1]:{door.port}\r\nConnection: close\r\n\r\n".encode())
        assert status_of(read_all(found)) == 200


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
def test_promise_22_rebinding_host_and_origin_are_checked(door, headers, status):
    with raw(door) as found:
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
