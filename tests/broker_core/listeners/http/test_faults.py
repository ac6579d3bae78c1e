"""Faults over HTTP: begun, listed, ended."""

from __future__ import annotations


def test_a_fault_is_begun_listed_and_ended(call):
    begun = call.done(
        "POST",
        "/v1/faults",
        {"effect": "error", "error": "NOT_LEADER_OR_FOLLOWER", "api": "Produce", "topic": "orders", "times": 3},
    )
    assert begun["name"] == "fault-1"
    assert begun["what"] == "NOT_LEADER_OR_FOLLOWER: Produce to orders, 3 times"
    assert call.done("GET", "/v1/faults") == {"faults": [begun]}
    call.done("DELETE", "/v1/faults/fault-1")
    assert call.done("GET", "/v1/faults") == {"faults": []}


def test_what_does_not_go_together_is_said_in_a_sentence(call):
    for body, told in (
        ({"effect": "error"}, "goes with effect error alone"),
        ({"effect": "error", "error": "NOT_AN_ERROR"}, "is none of"),
        ({"effect": "delay"}, "delay_ms says how long"),
    ):
        answer = call("POST", "/v1/faults", body)
        assert answer.status == 409 and told in answer.json["message"], answer
    assert call("DELETE", "/v1/faults/nothing").status == 409
    answer = call("POST", "/v1/faults", {"effect": "dely"})
    assert answer.status == 422
    assert "Invalid enum value 'dely' - at `$.effect`; one of delay, error, drop, lose_reply" in answer.json["message"]
