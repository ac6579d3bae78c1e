"""What has happened to a message, asked of memory and of the recording alike."""

from collections import Counter
from pathlib import Path

import pytest

from app.environment.paths import find_scenario
from app.sessions.history.event_ring import CHUNK, EventRing
from app.sessions.history.keys import partition_keys, published
from app.sessions.history.life import Place, life_in, life_of, place_of, touching
from app.sessions.history.past import History, Past
from app.sessions.history.recorded import Recorded
from app.sessions.history.redriven import redriven_messages
from broker_core.clock import NS_PER_S
from broker_core.events import MESSAGE_KINDS, Event, EventKind, EventStream
from broker_core.recording.live_session import LiveSession
from broker_core.simulation.actions.dead_letters import Redrive
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario


def touches(event: Event, place: Place) -> bool:
    """Whether an event tells about the message in `place`, or how it came there."""
    offset = event.offset
    if event.to_offset == place.offset and event.to_topic == place.topic and event.to_partition == place.partition:
        return True
    return (
        offset is not None
        and offset <= place.offset < offset + event.count
        and event.topic == place.topic
        and event.partition == place.partition
        and event.kind in MESSAGE_KINDS
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """First session up to 240 s, its dead letters of builds redriven at 20 s; recorded, and kept in two rings."""
    path = find_scenario("first-session")
    scenario, text = load_scenario(path)
    whole, small = EventRing(), EventRing(1)
    folder = tmp_path_factory.mktemp("session") / "one"
    live = LiveSession(scenario, text, folder=folder, find_file=DataFiles(path), sinks=(whole, small))
    live.simulation.loop.run_until(20 * NS_PER_S)
    letters = live.simulation.broker.queues.dead_letters("builds").list(limit=None)
    live.simulation.perform(Redrive(queue="builds", offsets=[letter.offset for letter in letters]))
    live.simulation.loop.run_until(240 * NS_PER_S)
    assert live.recorder is not None
    live.recorder.flush()
    yield live, whole, small, folder, letters
    live.close(finished=False)


@pytest.fixture
def asked(qtbot):
    """Asks a history and waits for the answer."""
    histories = []

    def ask(ring, folder, question, *values):
        history = History()
        histories.append(history)
        history.attach(ring, folder)
        answers: list = []
        history.ask(lambda past: question(past, *values), answers.append)
        qtbot.waitUntil(lambda: bool(answers), timeout=10_000)
        return answers[0]

    yield ask
    for history in histories:
        history.close()


def test_a_redriven_message_has_one_life_whatever_place_is_asked_for(run, asked):
    _live, whole, _small, _folder, letters = run
    letter = letters[0]
    origin = Place(letter.origin_topic, letter.origin_partition, letter.origin_offset)
    life = asked(whole, None, life_in, origin)
    kinds = [event.kind for event in life.events]
    assert kinds[0] is EventKind.PUBLISHED
    assert kinds.index(EventKind.DELIVERED) < kinds.index(EventKind.DEAD_LETTERED) < kinds.index(EventKind.REDRIVEN)
    assert EventKind.DELIVERED in kinds[kinds.index(EventKind.REDRIVEN) :]
    assert life.places[0] == origin
    assert len(life.places) >= 3
    assert life.whole
    for other in life.places[1:]:
        assert asked(whole, None, life_in, other).events == life.events


def test_the_recording_knows_what_memory_has_forgotten(run, asked):
    _live, whole, small, folder, letters = run
    assert small.first_seq > CHUNK
    place = Place(letters[0].origin_topic, letters[0].origin_partition, letters[0].origin_offset)
    life = asked(whole, None, life_in, place)
    assert asked(small, folder, life_in, place) == life
    short = asked(small, None, life_in, place)
    assert not short.whole
    assert len(short.events) < len(life.events)


def test_events_between_two_numbers_come_from_both(run, asked):
    _live, whole, small, folder, _letters = run
    middle = small.first_seq
    for first, end in ((0, 50), (middle - 20, middle + 20), (middle, middle + 5)):
        assert asked(small, folder, Past.between, first, end) == whole.between(first, end)


def test_what_the_ring_drops_while_the_recording_is_read_is_not_missing():
    stream, ring = EventStream(), EventRing(2 * CHUNK)
    stream.attach(ring)

    def emit(count):
        for _ in range(count):
            stream.emit(0, EventKind.PUBLISHED, topic="t", partition=0, offset=0, count=1)

    class ReadSlowly(Recorded):
        def events(self, wanted, folders=()):
            emit(1)
            return []

    emit(4 * CHUNK)
    assert ring.first_seq == CHUNK
    reached, found = Past.of(ring, ReadSlowly(Path())).search(0, 4 * CHUNK, None, lambda _event: True)
    assert ring.first_seq == 2 * CHUNK
    assert (reached, [event.seq for event in found]) == (4 * CHUNK, list(range(CHUNK, 4 * CHUNK)))


def test_keys_of_a_partition_are_counted_from_the_beginning(run, asked):
    live, whole, small, folder, _letters = run
    log = live.simulation.broker.logs.partition("commits", 2)
    truth = Counter(message.key for message in log.read(0, max_messages=100_000, max_bytes=1 << 30))
    for ring, where in ((whole, None), (small, folder)):
        found = asked(ring, where, partition_keys, "commits", 2, 1 << 62)
        assert dict(found.keys) == truth
        assert found.total == log.end_offset
        assert found.keys[0][1] == max(truth.values())
        assert found.whole
    assert not asked(small, None, partition_keys, "commits", 2, 1 << 62).whole
    early = asked(whole, None, partition_keys, "commits", 2, whole.end_seq // 2)
    assert 0 < early.total < log.end_offset


def test_every_key_and_place_that_was_published_to_is_known_from_both(run, asked):
    live, whole, small, folder, _letters = run
    broker = live.simulation.broker
    truth: Counter = Counter()
    for number in range(6):
        log = broker.logs.partition("commits", number)
        for message in log.read(0, max_messages=100_000, max_bytes=1 << 30):
            truth["commits", number, message.key] += 1
    for ring, where in ((whole, None), (small, folder)):
        found = asked(ring, where, published, 1 << 62)
        assert {one[:3]: one.messages for one in found.keys if one.topic == "commits"} == truth
        assert found.keys[0].messages == max(one.messages for one in found.keys)
        for number in range(6):
            assert found.ends["commits", number] == broker.logs.partition("commits", number).end_offset
        # Those that were redriven, and the queue of dead letters itself.
        dead = broker.queues.dead_letters("builds").name
        for name in ("builds", dead):
            assert found.ends[name, 0] == broker.logs.partition(name, 0).end_offset
    early = asked(whole, None, published, whole.end_seq // 2)
    assert 0 < early.ends["commits", 2] < found.ends["commits", 2]


def test_redrives_are_told_as_they_stood_at_a_moment(run, asked):
    _live, whole, small, folder, letters = run
    end_ns = 240 * NS_PER_S
    settled = asked(whole, None, redriven_messages, end_ns)
    assert len(settled) == len(letters) and any(row.deliveries for row in settled)
    assert asked(small, folder, redriven_messages, end_ns) == settled
    for ring, where in ((whole, None), (small, folder)):
        assert asked(ring, where, redriven_messages, 20 * NS_PER_S - 1) == []
        # Who is idle takes the first of them at once; the others wait.
        early = asked(ring, where, redriven_messages, 20 * NS_PER_S)
        assert [row.redriven for row in early] == [row.redriven for row in settled]
        assert all(row.fate is None or row.fate.time_ns == 20 * NS_PER_S for row in early)
        assert any(row.fate is None for row in early)


def test_answers_of_a_session_that_is_gone_do_not_come(run, qtbot):
    _live, whole, _small, _folder, letters = run
    history = History()
    history.attach(whole, None)
    answers = []
    place = Place(letters[0].origin_topic, letters[0].origin_partition, letters[0].origin_offset)
    history.ask(lambda past: life_in(past, place), lambda _life: answers.append("old"))
    history.attach(whole, None)
    history.ask(lambda past: life_in(past, place), lambda _life: answers.append("new"))
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == ["new"]
    history.close()


def test_a_place_is_read_from_its_name():
    assert place_of("a.b-c/3/17") == Place("a.b-c", 3, 17)
    assert place_of(Place("t", 0, 5).id.partition(":")[2]) == Place("t", 0, 5)
    for wrong in ("", "a", "a/b/c", "a/1", "/1/2", "a/-1/2"):
        assert place_of(wrong) is None


def test_many_events_are_asked_as_each_of_them(run):
    _live, whole, _small, _folder, letters = run
    origin = Place(letters[0].origin_topic, letters[0].origin_partition, letters[0].origin_offset)
    places = [origin, Place("builds.dlq", 0, letters[0].offset), Place("commits", 2, 7)]
    events = list(whole.since(0))
    each = [event for event in events if any(touches(event, place) for place in places)]
    assert touching(events, places) == each
    assert len(each) > 6


def test_a_loop_of_redrives_ends():
    def find(places):
        for place in places:
            there = "dead" if place.topic == "q" else "q"
            fields = {"topic": place.topic, "partition": 0, "offset": place.offset, "count": 1}
            moved = {"to_topic": there, "to_partition": 0, "to_offset": place.offset + 1}
            yield Event(2 * place.offset, 0, EventKind.DEAD_LETTERED, **fields, **moved)

    life = life_of(Place("q", 0, 0), find)
    assert not life.whole
    assert all(any(touches(event, place) for place in life.places) for event in life.events)
