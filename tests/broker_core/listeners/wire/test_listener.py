"""The wire listener: what it answers, what it outlives (A20, promises 19 to 22)."""

from __future__ import annotations

import logging
import random
import socket
import struct
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker_core.clients.admin import Admin
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.listeners.access.access import ANYBODY, Access, Operation, PrincipalEntry, Rule
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.wire.appends import Appends
from broker_core.listeners.wire.listener import WireListener
from broker_core.listeners.wire.rows import Caller
from broker_core.listeners.wire.table import TABLE
from broker_core.log.batch import ProducerStamp
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.wire import fetch, groups, produce, queues, session, topics, watch
from broker_core.wire.apis import APIS, BY_KEY
from broker_core.wire.batches import encode_messages
from broker_core.wire.frames import encode_frame
from tests.broker_core.listeners.wire.talk import Talk, batch, producing, until
from tests.broker_core.wire.bodies import requests
from tests.broker_core.wire.test_codec import mutate

TOKEN = "a token of at least sixteen"


def code_of(answer) -> ErrorCode:
    assert answer.error is not None
    return answer.error.code


def test_each_request_of_the_table_has_its_row():
    own = {session.Hello, session.Ping, session.Cancel}
    assert {api.request for api in APIS} - own == set(TABLE)


def test_hello_tells_what_the_broker_offers(listener: WireListener):
    with Talk(listener.port, hello=False) as talk:
        hello = talk.get(session.Hello("me", "test"))
        assert {api.key for api in hello.apis} == set(BY_KEY)
        assert (hello.principal, hello.max_frame_bytes) == ("anybody", listener.limits.max_frame_bytes)
        assert code_of(talk.ask(session.Hello("me", "test"))) is ErrorCode.INVALID_REQUEST
        assert talk.get(session.Ping()).now_ns >= hello.now_ns


def test_nothing_is_served_before_hello(listener: WireListener):
    with Talk(listener.port, hello=False) as talk:
        assert code_of(talk.ask(topics.ListTopics())) is ErrorCode.INVALID_REQUEST
        talk.get(session.Hello("me", "test"))
        assert talk.get(topics.ListTopics()).names == ()


def test_wrong_frames_get_an_error_and_the_connection_lives(listener: WireListener):
    with Talk(listener.port) as talk:
        wrong = [
            encode_frame(999, 0, 90, b""),
            encode_frame(21, 7, 91, b""),
            encode_frame(21, 0, 92, b"\xff\xff"),
            struct.pack(">Ihhi", listener.limits.max_frame_bytes + 1, 21, 0, 93)
            + bytes(listener.limits.max_frame_bytes - 7),
        ]
        for number, data in zip(range(90, 94), wrong, strict=True):
            talk.codec._waiting[number] = BY_KEY[1]
            talk.socket.sendall(data)
            assert talk.hear(number).error is not None
            assert talk.get(session.Ping())
    assert listener.host.now_ns


def test_what_is_no_protocol_of_ours_is_told_so_and_hung_up_on(listener: WireListener):
    with socket.create_connection(("127.0.0.1", listener.port)) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        said = b""
        while data := sock.recv(1_000):
            said += data
        assert b"a frame of" in said


def test_binary_values_of_many_batches_are_stored_as_sent_each_with_its_own_answer(listener: WireListener):
    Admin(listener.host).create_topic("t", 2)
    with Talk(listener.port) as talk:
        reply = talk.get(
            producing(batch(bytes(range(256)), b"\0"), batch(b"x", partition=1), batch(b"y", topic="nowhere"))
        )
        assert [(each.partition, each.offset, each.count, each.error) for each in reply.results[:2]] == [
            (0, 0, 2, 0),
            (1, 0, 1, 0),
        ]
        assert reply.results[2].error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code
        [part] = talk.get(fetch.ReadRecords("t", 0, 0, 10)).parts
        assert [message[4] for message in part.messages] == [bytes(range(256)), b"\0"]
        assert talk.get(producing()).results == ()


def test_damaged_and_foreign_batches_are_refused(listener: WireListener):
    Admin(listener.host).create_topic("t", 1)
    good = bytes(encode_messages([Message(b"x"), Message(b"y")], None))
    flipped = bytearray(good)
    flipped[flipped.rindex(b"x")] ^= 1
    with Talk(listener.port) as talk:
        for data, code in (
            (bytes(flipped), ErrorCode.CORRUPT_MESSAGE),
            (good[:-1], ErrorCode.CORRUPT_MESSAGE),
            (good + b"\0", ErrorCode.CORRUPT_MESSAGE),
            (b"", ErrorCode.CORRUPT_MESSAGE),
        ):
            [found] = talk.get(producing(produce.ProducedBatch("t", 0, memoryview(data)))).results
            assert found.error == code.code
        assert listener.host.broker.end_offset("t", 0) == 0


def test_a_batch_that_is_sent_again_is_stored_once(listener: WireListener):
    Admin(listener.host).create_topic("t", 1)
    with Talk(listener.port) as talk:
        identity = talk.get(produce.InitProducer(""))
        first = batch(b"a", b"b", stamp=ProducerStamp(identity.producer_id, identity.epoch, 0))
        assert talk.get(producing(first)).results[0].offset == 0
    with Talk(listener.port) as talk:
        assert talk.get(producing(first)).results[0].offset == 0
        gap = batch(b"z", stamp=ProducerStamp(identity.producer_id, identity.epoch, 9))
        assert talk.get(producing(gap)).results[0].error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER.code
    assert listener.host.broker.end_offset("t", 0) == 2


def test_pipelined_requests_are_stored_in_the_order_of_sending(listener: WireListener):
    Admin(listener.host).create_topic("t", 1)
    with Talk(listener.port) as talk:
        numbers = talk.say(*[producing(batch(b"%d" % number)) for number in range(500)])
        assert [talk.heard(number).results[0].offset for number in numbers] == list(range(500))
        [part] = talk.get(fetch.ReadRecords("t", 0, 0, 1_000)).parts
        assert [message[4] for message in part.messages] == [b"%d" % number for number in range(500)]


def test_more_requests_than_may_be_in_flight_wait_their_turn(host: BrokerHost):
    Admin(host).create_topic("narrow", 1, flow=FlowConfig(max_messages=1))
    host.call(lambda _now: host.broker.starting_offset("g", "narrow", 0, "earliest"))
    with (
        WireListener(host, port=0, limits=GuardConfig(max_in_flight_per_connection=4)) as listener,
        Talk(listener.port) as talk,
    ):
        sent = talk.say(*[producing(batch(b"x", topic="narrow"), timeout_ms=60_000) for _ in range(20)])
        talk.hear(sent[0])
        [view] = listener.connections.views()
        assert view.requests <= 1 + 1 + 4  # hello, the stored one, and four that wait
        for offset in range(1, 20):
            done = {("narrow", 0): offset}
            host.call(lambda now_ns, done=done: host.broker.commit(now_ns, "g", "c", "", -1, done))  # type: ignore[misc]
            assert talk.heard(sent[offset]).results[0].offset == offset


def test_a_blocked_reply_has_a_deadline_and_a_throttle_time(listener: WireListener):
    Admin(listener.host).create_topic("t", 1, flow=FlowConfig(max_messages=1))
    listener.host.call(lambda _now: listener.host.broker.starting_offset("g", "t", 0, "earliest"))
    with Talk(listener.port) as talk:
        talk.get(producing(batch(b"1")))
        started_s = time.monotonic()
        [refused] = talk.get(producing(batch(b"2"), timeout_ms=200)).results
        assert 0.15 < time.monotonic() - started_s < 5
        assert refused.error == ErrorCode.THROTTLED.code and refused.throttle_ms > 0


def test_the_throttle_time_is_what_the_rate_asks_for(listener: WireListener):
    Admin(listener.host).create_topic("t", 1, flow=FlowConfig(rate_per_s=2, burst=1, policy="reject"))
    with Talk(listener.port) as talk:
        talk.get(producing(batch(b"1")))
        [refused] = talk.get(producing(batch(b"2"))).results
        assert refused.error == ErrorCode.THROTTLED.code and 300 <= refused.throttle_ms <= 500


def test_a_long_poll_waits_and_can_be_cancelled(listener: WireListener):
    Admin(listener.host).create_topic("t", 1)
    with Talk(listener.port) as talk:
        waiting = fetch.Fetch("g", "c", (("t", 0, 0),), 10, 30_000)
        [first, second] = talk.say(waiting, session.Ping())
        assert talk.heard(second).now_ns  # others are served meanwhile
        talk.get(session.Cancel(first))
        assert talk.heard(first).parts == ()
        [third] = talk.say(waiting)
        with Talk(listener.port) as other:
            other.get(producing(batch(b"now")))
        assert talk.heard(third).parts[0].messages[0][4] == b"now"
        started_s = time.monotonic()
        assert talk.get(fetch.Fetch("g", "c", (("t", 0, 1),), 10, 100)).parts == ()
        assert time.monotonic() - started_s < 5


def test_who_hangs_up_is_waited_for_no_longer_and_what_it_took_comes_back(listener: WireListener):
    host = listener.host
    Admin(host).create_queue("jobs", QueueConfig(lease_ms=60_000))
    with Talk(listener.port) as talk:
        talk.say(queues.Take("jobs", "gone", 1, 60_000))
        until(lambda: host.broker.queue("jobs").waiting_takers == 1)
    until(lambda: host.broker.queue("jobs").waiting_takers == 0)
    with Talk(listener.port) as talk:
        talk.get(producing(batch(b"x", topic="jobs")))
        [lease] = talk.get(queues.Take("jobs", "here", 1, 0)).leases
        assert (lease.attempt, lease.message.value) == (1, b"x")


def test_leases_that_come_to_who_is_gone_are_given_back_at_once(listener: WireListener):
    """The connection is lost between the handing out and the answer."""
    host = listener.host
    Admin(host).create_queue("jobs", QueueConfig(lease_ms=60_000))
    seen = listener.connections.open("wire", "", lambda: None)
    appends = Appends(host.broker)
    caller = Caller(
        host, listener.access, listener.limits, listener.connections, listener.tail, seen, ANYBODY, set(), appends
    )
    with Talk(listener.port) as talk:
        talk.get(producing(batch(b"x", topic="jobs")))
        take = queues.Take("jobs", "gone", 1, 0)
        waiting = host.call(lambda now_ns: TABLE[queues.Take].serve(caller, take, now_ns))
        assert host.broker.queue("jobs").in_flight == 1
        host.call(lambda _now: waiting.lost(waiting.reply.result()))
        [lease] = talk.get(queues.Take("jobs", "here", 1, 0)).leases
        assert (lease.attempt, lease.holder) == (1, "here")


def test_a_newcomer_that_is_gone_before_it_hears_its_name_leaves_the_group(listener: WireListener):
    host = listener.host
    join = groups.Join("g", "c", "", "", 10_000, 10_000, 0, "consumer", (("range", b""),))
    with Talk(listener.port) as talk:
        talk.say(join)
        until(lambda: "g" in host.broker.groups.groups())
    until(lambda: not host.call(lambda now_ns: host.broker.groups.view(now_ns, "g")).members)


def test_events_are_told_from_the_first_question_on(listener: WireListener):
    with Talk(listener.port) as talk:
        start = talk.get(watch.TailEvents(-1, 10, 0)).next_seq
        [waits] = talk.say(watch.TailEvents(start, 10, 10_000))
        Admin(listener.host).create_topic("t", 1)
        heard = talk.heard(waits)
        assert [(event.kind, event.topic) for event in heard.events] == [("topic_created", "t")]
        assert (heard.missed, heard.next_seq) == (0, start + 1)
        assert talk.get(watch.Metrics()).topics == 1


def test_an_error_of_the_broker_itself_is_told_as_such(listener: WireListener, monkeypatch, caplog):
    monkeypatch.setattr(type(listener.host.broker), "topic_names", lambda self: 1 // 0)
    with caplog.at_level(logging.CRITICAL), Talk(listener.port) as talk:
        answer = talk.ask(topics.ListTopics())
        assert code_of(answer) is ErrorCode.INTERNAL_ERROR and "ZeroDivisionError" in str(answer.error)
        assert talk.get(session.Ping())


# -- who may do what


def test_other_addresses_than_loopback_need_a_token(host: BrokerHost):
    """Promise 22."""
    assert WireListener(host, port=0).address == "127.0.0.1"
    with pytest.raises(BrokerError) as caught:
        WireListener(host, address="0.0.0.0", port=0)
    assert caught.value.code is ErrorCode.INVALID_CONFIG
    with WireListener(host, address="0.0.0.0", port=0, access=Access.of_token(TOKEN)) as listener:
        with Talk(listener.port, hello=False) as talk:
            for token in (None, "wrong"):
                with Talk(listener.port, hello=False) as other:
                    assert code_of(other.ask(session.Hello("me", "test", token))) is ErrorCode.UNAUTHORIZED
                    assert other.closed_within(5)
            assert talk.get(session.Hello("me", "test", TOKEN)).principal == "token"


def test_access_rules_hold_for_every_request(host: BrokerHost):
    rules = (
        Rule("reader", (Operation.READ,), topics=("open-*",), groups=("readers",)),
        Rule("writer", (Operation.WRITE,), topics=("open-*",), queues=("jobs",)),
    )
    access = Access((PrincipalEntry("reader", "reader-token-0123456789"), PrincipalEntry("writer", "w" * 16)), rules)
    admin = Admin(host)
    for name in ("open-1", "shut-1"):
        admin.create_topic(name, 1)
    admin.create_queue("jobs")
    with (
        WireListener(host, port=0, access=access) as listener,
        Talk(listener.port, token="reader-token-0123456789") as reader,
        Talk(listener.port, token="w" * 16) as writer,
    ):
        assert writer.get(producing(batch(b"x", topic="open-1"))).results[0].error == 0
        assert writer.get(producing(batch(b"x", topic="jobs"))).results[0].error == 0
        assert reader.get(fetch.ReadRecords("open-1", 0, 0, 9)).parts
        assert reader.get(fetch.Fetch("readers", "c", (("open-1", 0, 0),), 9, 0)).parts
        assert reader.get(topics.ListTopics()).names == ("open-1",)
        assert reader.get(topics.Metadata(("open-1",))).topics
        refused = [
            (reader, producing(batch(b"x", topic="open-1"))),
            (reader, fetch.ReadRecords("shut-1", 0, 0, 9)),
            (reader, fetch.Fetch("others", "c", (("open-1", 0, 0),), 9, 0)),
            (reader, topics.Metadata(("shut-1",))),
            (reader, topics.DeleteTopic("open-1")),
            (reader, topics.CreateTopic("open-2", 1)),
            (reader, watch.Metrics()),
            (writer, producing(batch(b"x", topic="open-1"), batch(b"x", topic="shut-1"))),
            (writer, queues.Take("jobs", "w", 1, 0)),
            (writer, groups.DescribeGroup("readers")),
        ]
        for talk, request in refused:
            assert code_of(talk.ask(request)) is ErrorCode.FORBIDDEN, request
        assert host.broker.end_offset("open-1", 0) == 1


# -- who is silent, slow, or too many


def _check_anything(port: int, examples: int) -> None:
    """Any request that parses is answered, with a reply or an error that is not the broker's own fault."""

    @settings(
        max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(st.lists(requests(), min_size=1, max_size=5))
    def check(drawn):
        bodies = [body for _, body in drawn if not isinstance(body, session.Hello)]
        with Talk(port) as talk:
            waiting = talk.say(*bodies)
            for number in list(waiting):
                talk.say(session.Cancel(number))
            assert talk.get(session.Ping())
            for number, body in zip(waiting, bodies, strict=True):
                if not isinstance(body, groups.Join | groups.Sync | produce.Produce):  # they wait for others
                    answer = talk.hear(number, 20)
                    assert answer.error is None or answer.error.code is not ErrorCode.INTERNAL_ERROR, answer.error

    check()


def test_any_request_is_answered(listener: WireListener):
    """Promise 19, at the listener itself."""
    _check_anything(listener.port, 150)


@pytest.mark.soak
def test_any_request_is_answered_at_length(listener: WireListener):
    _check_anything(listener.port, 5_000)


def test_mutated_bytes_never_stop_the_listener(listener: WireListener):
    """Promise 19, at the listener itself."""
    dice = random.Random(3)
    Admin(listener.host).create_topic("t", 1)
    with Talk(listener.port) as good:
        seeds = [
            good.codec.request(body)[1]
            for body in (producing(batch(b"a", b"b")), fetch.Fetch("g", "c", (("t", 0, 0),), 9, 5), session.Ping())
        ]
        hello = good.codec.request(session.Hello("x", "y"))[1]
        for _ in range(150):
            with socket.create_connection(("127.0.0.1", listener.port)) as sock:
                sock.sendall(hello + b"".join(mutate(dice, dice.choice(seeds)) for _ in range(6)))
        started_s = time.monotonic()
        assert good.ask(session.Ping(), 5)
        assert time.monotonic() - started_s < 5
    until(lambda: listener.connections.count() == 0)
    until(lambda: listener.budget.requests == 0 and listener.budget.bytes == 0)
