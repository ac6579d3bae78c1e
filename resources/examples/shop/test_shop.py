"""The shop's answers, and what it publishes."""

import json

import pytest
from fastapi.testclient import TestClient
from shop import shop


@pytest.fixture
def client(broker):
    broker.create_topic("orders", partitions=3)
    with TestClient(shop(broker.bootstrap_servers)) as client:
        yield client


def test_an_order_is_published_with_its_customer_as_key(broker, client):
    assert client.post("/orders", json={"customer": "Ada", "books": 2}).status_code == 201
    (message,) = broker.messages("orders")
    assert (message.key, json.loads(message.value)) == (b"Ada", {"customer": "Ada", "books": 2})


def test_orders_of_a_customer_stay_in_order(broker, client):
    answers = [client.post("/orders", json={"customer": "Ada", "books": books}).json() for books in (1, 2, 3)]
    assert len({answer["partition"] for answer in answers}) == 1
    assert [json.loads(message.value)["books"] for message in broker.messages("orders")] == [1, 2, 3]


def test_no_books_are_no_order(broker, client):
    assert client.post("/orders", json={"customer": "Ada", "books": 0}).status_code == 422
    assert broker.messages("orders") == []


def test_an_order_that_is_not_stored_is_answered_with_503(broker, client):
    with broker.faults.full_topic("orders"):
        answer = client.post("/orders", json={"customer": "Ada", "books": 1})
    assert answer.status_code == 503
    assert "not stored" in answer.json()["detail"]
