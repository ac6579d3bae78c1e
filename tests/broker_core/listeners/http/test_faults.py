"""Faults over HTTP: begun, listed, ended."""

from __future__ import annotations

import pytest

from broker_core.listeners.access.access import Access
from tests.broker_core.listeners.http.client import Client

TOKEN = "sixteen characters"


@pytest.fixture(autouse=True)
def for_tests(listener):
    """As `serve --testing` does."""
    listener.host.broker.clock.movable = listener.host.clock


def test_nobody_disturbs_the_clients_of_a_broker_that_is_open_and_not_for_tests(opened):
    fault = {"effect": "drop", "api": "Produce"}
    for access, status in ((None, 409), (Access.of_token(TOKEN), 201)):
        client = Client(opened(access=access).port, token=TOKEN)
        assert client("POST", "/v1/faults", fault).status == status
        client.close()


def test_a_fault_is_begun_listed_and_ended(call):
    begun = call.done(
        "POST",
        "/v1/faults",
        {"effect": "error", "error": "NOT_LEADER_OR_FOLLOWER", "api": "Produce", "topic": "orders", "times": 3},
    )
    assert begun["name"] == "fault-1"
    assert begun["what"] == "NOT_LEADER_OR_FOLLOWER: Produce to orders, 3 times"
    assert call.done("GET", "/v1/faults") == [begun]
    call.done("DELETE", "/v1/faults/fault-1")
    assert call.done("GET", "/v1/faults") == []


def test_what_does_not_go_together_is_said_in_a_sentence(call):
    for body, told in (
        ({"effect": "error"}, "effect error needs error"),
        ({"effect": "error", "error": "NOT_AN_ERROR"}, "is not one of"),
        ({"effect": "bandwidth"}, "effect bandwidth needs bytes_per_s"),
    ):
        answer = call("POST", "/v1/faults", body)
        assert answer.status == 422 and told in answer.json["message"], answer
    assert call("DELETE", "/v1/faults/nothing").status == 404
    assert call("POST", "/v1/wait", {"condition": "kin = topic"}).status == 422
    unknown = call("POST", "/v1/wait", {"seconds": 60}).json["message"]
    assert unknown == "The request is malformed: the body: unknown field `seconds`; one of condition, timeout_ms."
    answer = call("POST", "/v1/faults", {"effect": "dely"})
    assert answer.status == 422
    assert "effect in the body: unknown value 'dely'; one of delay, error, drop, lose_reply" in answer.json["message"]
