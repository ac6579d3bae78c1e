"""A member of another program on the bench, in virtual time."""

from __future__ import annotations

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.faults.client_faults import ClientRequest
from broker_core.groups.joining import JoinRequest
from broker_core.groups.protocol import MemberSubscription, encode_subscription
from broker_core.simulation import Simulation
from broker_core.simulation.actions.faults import EndRequestFault
from broker_core.simulation.actions.groups import DeleteGroup, MoveConsumer
from tests.broker_core.simulation.test_replay import first_session, sample

JOIN = ClientRequest("stranger", "JoinGroup", "shipping")


@pytest.fixture
def simulation() -> Simulation:
    """The first session, with a member of another program in the group "shipping"."""
    made = Simulation(first_session(), find_file=sample)
    made.run(5)
    made.broker.groups.join(
        made.loop.now_ns,
        "shipping",
        JoinRequest(
            client_id="stranger",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=60_000,
            protocol_type="consumer",
            protocols={"range": encode_subscription(MemberSubscription(("commits",)))},
        ),
    )
    made.run(10)
    return made


def bench(simulation: Simulation) -> set[str]:
    return {actor.name for actor in simulation.snapshot().actors if actor.role == "consumer" and not actor.target}


def test_it_is_out_of_its_group_and_its_join_is_held_until_it_is_back(simulation: Simulation):
    events: list[Event] = []
    simulation.events.attach(events.append)
    performed = simulation.perform(MoveConsumer("stranger", ""))
    assert performed.inverse == MoveConsumer("stranger", "shipping")
    assert "stranger" in bench(simulation)
    held_from = {actor.name: actor.held_from for actor in simulation.snapshot().actors if not actor.target}
    assert held_from["stranger"] == "shipping" and set(held_from.values()) == {"shipping", ""}
    started = next(event for event in events if event.kind is EventKind.CLIENT_STARTED)
    assert started.detail == {"role": "consumer", "held_from": "shipping"}
    assert simulation.broker.groups.clients("shipping") == {}
    fault = simulation.broker.client_faults.judge(simulation.loop.now_ns, JOIN)
    assert fault is not None and fault.effect == "hold"
    simulation.perform(MoveConsumer("stranger", "shipping"))
    assert "stranger" not in bench(simulation)
    assert simulation.broker.client_faults.judge(simulation.loop.now_ns, JOIN) is None
    comings = [event.kind for event in events if event.client == "stranger" and event.kind.startswith("client_")]
    assert comings == [EventKind.CLIENT_STARTED, EventKind.CLIENT_STOPPED]


def test_it_leaves_the_bench_where_the_fault_is_ended(simulation: Simulation):
    simulation.perform(MoveConsumer("stranger", ""))
    (fault,) = simulation.broker.client_faults.views()
    simulation.perform(EndRequestFault(fault))
    assert "stranger" not in bench(simulation)


@pytest.mark.parametrize(("target", "told"), [("indexers", "whose group.id is shipping"), ("shipping", "already")])
def test_it_goes_nowhere_else(simulation: Simulation, target: str, told: str):
    with pytest.raises(BrokerError, match=told) as refused:
        simulation.perform(MoveConsumer("stranger", target))
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    simulation.perform(MoveConsumer("stranger", ""))
    with pytest.raises(BrokerError, match="is already on the bench"):
        simulation.perform(MoveConsumer("stranger", ""))


def test_its_group_is_deleted_once_it_has_left(simulation: Simulation):
    with pytest.raises(BrokerError) as refused:
        simulation.perform(DeleteGroup(group="shipping"))
    assert refused.value.code is ErrorCode.NON_EMPTY_GROUP
    (member,) = simulation.broker.groups.view(simulation.loop.now_ns, "shipping").members
    simulation.broker.groups.leave(simulation.loop.now_ns, "shipping", member.member_id)
    simulation.run(11)
    simulation.perform(DeleteGroup(group="shipping"))
    assert "shipping" not in simulation.broker.groups.groups()
