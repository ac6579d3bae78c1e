"""OffsetFetch: what groups have committed; -1 where they have not. From v8 on several groups at once.

An error of a group stands beside its topics, of which none are answered; in v1, which has no place for it, in each
partition. Where the request asks for stable offsets (v7), one that an open transaction is about to commit is answered
with UNSTABLE_OFFSET_COMMIT, and the client asks again.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import READ, Answer, Call, ForbiddenError, kafka_code, sliced
from broker_core.listeners.kafka.codec import Body

KEY = 9
_FIRST_WITH_GROUPS = 8
_FIRST_WITH_ERRORS_OF_GROUPS = 2


def handle(call: Call, request: Any) -> Answer:
    """Answer for each group."""
    if call.version >= _FIRST_WITH_GROUPS:
        stable = request.require_stable
        groups = {each.group_id: each for each in request.groups}.values()
        return sliced(call, "groups", (_group(call, each.group_id, each.topics, stable=stable) for each in groups))
    return _group(call, request.group_id, request.topics, stable=getattr(request, "require_stable", False))


def refused(call: Call, request: Any, code: int) -> Body:
    """The answer to a request that is not served."""
    if call.version >= _FIRST_WITH_GROUPS:
        return {"groups": [_refused(call, each.group_id, each.topics, code) for each in request.groups]}
    return _refused(call, request.group_id, request.topics, code)


def _refused(call: Call, group: str, topics: Any, code: int) -> Body:
    rows: list[dict[str, Any]] = []
    if call.version < _FIRST_WITH_ERRORS_OF_GROUPS:
        rows = [
            {
                "name": each.name,
                "partitions": [_nothing(number, code) for number in each.partition_indexes],
            }
            for each in topics
        ]
    return {"group_id": group, "topics": rows, "error_code": code}


def _nothing(number: int, code: int) -> Body:
    return {
        "partition_index": number,
        "committed_offset": -1,
        "committed_leader_epoch": -1,
        "metadata": "",
        "error_code": code,
    }


def _group(call: Call, group: str, topics: Any, *, stable: bool) -> Body:
    try:
        call.must(READ, "group", group)
    except BrokerError as error:
        return _refused(call, group, topics, kafka_code(error))
    known = call.broker.groups.offsets.fetch_all(group)
    unstable = call.broker.transactions.unstable_offsets(group) if stable else ()
    if topics is None:
        wanted: dict[str, list[int]] = {}
        readable = call.readable({name for name, _ in known})
        for name, number in sorted(at for at in known if at[0] in readable):
            wanted.setdefault(name, []).append(number)
    else:
        wanted = {each.name: list(each.partition_indexes) for each in topics}
    found = []
    for name, numbers in wanted.items():
        rows = []
        if not call.may(READ, "topic", name):
            code = kafka_code(ForbiddenError("topic", name))
            found.append({"name": name, "partitions": [_nothing(number, code) for number in numbers]})
            continue
        for number in numbers:
            moving = (name, number) in unstable
            value = None if moving else known.get((name, number))
            rows.append(
                {
                    "partition_index": number,
                    "committed_offset": -1 if value is None else value.offset,
                    "committed_leader_epoch": -1 if value is None else value.leader_epoch,
                    "metadata": "" if value is None else value.metadata,
                    "error_code": ErrorCode.UNSTABLE_OFFSET_COMMIT.code if moving else 0,
                }
            )
        found.append({"name": name, "partitions": rows})
    return {"group_id": group, "topics": found, "error_code": 0}
