"""A21: logging, filter, transform, dedupe, routing, timestamp: composable, ordered, O(1) each."""

from __future__ import annotations

import logging
import time
import zlib
from typing import Any, NoReturn

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clients.middleware import (
    Chain,
    Dedupe,
    Filter,
    Logging,
    Middleware,
    Routing,
    Timestamp,
    Transform,
    header,
)
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message, StoredMessage


def message(value: bytes = b"v", key: bytes | None = None, **headers: bytes) -> Message:
    return Message(value, key, tuple(headers.items()))


def stored(offset: int, value: bytes = b"v", partition: int = 0, **headers: bytes) -> StoredMessage:
    return StoredMessage("t", partition, offset, 0, 0, None, value, tuple(headers.items()))


def chain(*middleware: Middleware) -> Chain:
    return Chain(middleware, lambda: 42, "client-1")


def identity(found: Message | StoredMessage) -> bytes | None:
    return header(found, "id")


def appending(letter: bytes) -> Transform:
    def out(found: Message) -> Message:
        return msgspec.structs.replace(found, value=(found.value or b"") + letter)

    def back(found: StoredMessage) -> StoredMessage:
        assert found.value is not None and found.value.endswith(letter)
        return msgspec.structs.replace(found, value=found.value[:-1])

    return Transform(out, back)


def test_an_empty_chain_changes_nothing():
    assert chain().outgoing("t", message()) == ("t", message())
    assert chain().incoming(stored(3)) == stored(3)


@pytest.mark.promise("A21")
def test_what_goes_out_meets_the_first_first_and_what_comes_in_meets_it_last():
    row = chain(appending(b"1"), appending(b"2"))
    sent = row.outgoing("t", message(b"v"))
    assert sent == ("t", message(b"v12"))
    assert row.incoming(stored(0, b"v12")) == stored(0, b"v")


@given(st.binary(), st.permutations(["zip", "upper", "stamp"]))
def test_transforms_undo_their_own_work_in_any_order(value, order):
    def zipped(found: Any) -> Any:
        return msgspec.structs.replace(found, value=zlib.compress(found.value))

    def unzipped(found: Any) -> Any:
        return msgspec.structs.replace(found, value=zlib.decompress(found.value))

    kinds = {"zip": Transform(zipped, unzipped), "upper": appending(b"!"), "stamp": Timestamp()}
    row = chain(*(kinds[name] for name in order))
    sent = row.outgoing("t", Message(value))
    assert sent is not None
    got = row.incoming(StoredMessage("t", 0, 0, 0, 0, None, sent[1].value, sent[1].headers))
    assert got is not None and got.value == value


def test_a_filter_stops_each_way_or_both():
    def good(found: Message | StoredMessage) -> bool:
        return found.value != b"bad"

    both, out, back = chain(Filter(good)), chain(Filter(good, on="publish")), chain(Filter(good, on="deliver"))
    assert [row.outgoing("t", message(b"bad")) is None for row in (both, out, back)] == [True, True, False]
    assert [row.incoming(stored(0, b"bad")) is None for row in (both, out, back)] == [True, False, True]
    assert both.outgoing("t", message(b"ok")) is not None
    assert both.dropped == {"Filter": 2}


@pytest.mark.promise("A21")
def test_routing_sets_the_topic_and_later_middleware_sees_it():
    lines: list[str] = []
    row = chain(Routing(lambda found: "big" if len(found.value or b"") > 3 else None), Logging(lines.append))
    assert row.outgoing("small", message(b"12345")) == ("big", message(b"12345"))
    assert row.outgoing("small", message(b"1")) == ("small", message(b"1"))
    assert ["to big" in lines[0], "to small" in lines[1]] == [True, True]


def test_a_route_to_a_name_that_is_not_allowed_is_refused():
    with pytest.raises(BrokerError) as caught:
        chain(Routing(lambda found: "../etc")).outgoing("t", message())
    assert caught.value.code is ErrorCode.INVALID_TOPIC


def test_logging_says_sizes_and_places_but_no_payload():
    lines: list[str] = []
    row = chain(Logging(lines.append))
    row.outgoing("orders", message(b"secret", b"k"))
    row.incoming(stored(7, b"secret"))
    assert lines == ["42 'client-1' publishes 6 bytes with key b'k' to orders", "42 'client-1' gets 6 bytes from t/0@7"]


def test_a_timestamp_is_added_once():
    row = chain(Timestamp(), Timestamp())
    assert row.outgoing("t", message()) == ("t", message(sent_ns=b"42"))
    assert row.outgoing("t", message(sent_ns=b"7")) == ("t", message(sent_ns=b"7"))


@pytest.mark.promise("A21")
def test_dedupe_drops_the_copy_and_nothing_else():
    row = chain(Dedupe(identity))
    sent = [row.outgoing("t", message(id=name)) is not None for name in (b"a", b"b", b"a")]
    assert sent == [True, True, False]
    assert row.outgoing("t", message()) == row.outgoing("t", message()) == ("t", message())


def test_a_redelivery_from_its_own_offset_passes_and_a_copy_from_another_does_not():
    row = chain(Dedupe(identity))
    assert row.incoming(stored(1, id=b"a")) is not None
    assert row.incoming(stored(1, id=b"a")) is not None
    assert row.incoming(stored(2, id=b"a")) is None
    assert row.incoming(stored(1, partition=1, id=b"a")) is None


def test_the_retry_of_a_publish_that_failed_is_not_taken_for_a_copy():
    row = chain(Dedupe(identity), Timestamp())
    sent = row.outgoing("t", message(id=b"a"))
    assert sent is not None
    row.failed(sent[1])
    assert row.outgoing("t", message(id=b"a")) is not None


def test_what_a_later_middleware_drops_or_breaks_on_may_come_again():
    answers = [False, True]
    row = chain(Dedupe(identity), Filter(lambda found: answers.pop(0)))
    assert [row.outgoing("t", message(id=b"a")) is None for _ in range(2)] == [True, False]

    broken = [True]

    def sometimes(found: Message) -> Message:
        if broken.pop():
            raise ValueError("not now")
        broken.append(False)
        return found

    again = chain(Dedupe(identity), Transform(sometimes))
    with pytest.raises(BrokerError, match="Transform raised ValueError: not now") as caught:
        again.outgoing("t", message(id=b"a"))
    assert caught.value.code is ErrorCode.MIDDLEWARE_FAILED
    broken.append(False)
    assert again.outgoing("t", message(id=b"a")) is not None


@given(st.lists(st.integers(0, 30), max_size=200), st.integers(1, 8))
def test_dedupe_remembers_exactly_its_window(names, window):
    dedupe = Dedupe(identity, window=window, on="publish")
    row = chain(dedupe)
    recent: list[int] = []  # the model: the last `window` identities that passed
    for name in names:
        passed = row.outgoing("t", message(id=b"%d" % name)) is not None
        assert passed == (name not in recent)
        if passed:
            recent = [*recent, name][-window:]
        assert dedupe.remembered == len(recent)


def test_a_message_that_middleware_moves_is_an_error_and_not_a_lost_offset():
    row = chain(Transform(deliver=lambda found: msgspec.structs.replace(found, offset=0)))
    with pytest.raises(BrokerError) as caught:
        row.incoming(stored(5))
    assert caught.value.code is ErrorCode.MIDDLEWARE_FAILED


def test_what_a_middleware_raises_is_told_in_one_sentence_in_both_directions():
    def broken(_found: object) -> NoReturn:
        raise ValueError("No such key.")

    row = chain(Transform(broken, broken))
    with pytest.raises(BrokerError) as sent:
        row.outgoing("t", message())
    assert str(sent.value) == "A middleware failed: Transform raised ValueError: No such key."
    with pytest.raises(BrokerError) as fetched:
        row.incoming(stored(5))
    assert str(fetched.value) == "A middleware failed: Transform raised ValueError: No such key, at t/0@5."


def test_a_window_of_nothing_is_refused():
    with pytest.raises(BrokerError):
        Dedupe(identity, window=0)


@pytest.mark.promise("A21")
@pytest.mark.bench
def test_a_dedupe_of_a_hundred_thousand_costs_what_one_of_ten_costs():
    def seconds(window: int) -> float:
        row = chain(Dedupe(identity, window=window, on="publish"))
        for name in range(100_000):
            row.outgoing("t", message(id=b"%d" % name))
        begun = time.perf_counter()
        for name in range(100_000, 150_000):
            row.outgoing("t", message(id=b"%d" % name))
        return time.perf_counter() - begun

    assert min(seconds(100_000) for _ in range(3)) < 2 * min(seconds(10) for _ in range(3))


def test_what_is_given_nothing_does_the_usual(caplog: pytest.LogCaptureFixture):
    """Logging goes to the log, and copies are known by their header `id`."""
    chain = Chain([Logging(), Dedupe()], lambda: 0, "p")
    first = Message(b"v", headers=(("id", b"7"),))
    with caplog.at_level(logging.INFO):
        assert chain.outgoing("t", first) is not None
        assert chain.outgoing("t", first) is None
        assert chain.outgoing("t", Message(b"v")) is not None and chain.outgoing("t", Message(b"v")) is not None
    assert caplog.records[0].getMessage() == "0 'p' publishes 1 bytes to t"
