"""Producer ids and epochs (KIP-98). A producer with a known name fences the previous one."""

from __future__ import annotations

import msgspec

MAX_EPOCH = (1 << 15) - 1
_BLOCK = 1_000


class ProducerIdsState(msgspec.Struct, frozen=True):
    """The state to save: the next free id, and (id, epoch) by name."""

    next_id: int = 0
    named: dict[str, tuple[int, int]] = {}


class ProducerIds:
    """Allocates (producer id, epoch)."""

    def __init__(self, state: ProducerIdsState | None = None) -> None:
        self._next_id = 0
        self._named: dict[str, tuple[int, int]] = {}
        self.restore(state or ProducerIdsState())

    def register(self, name: str = "") -> tuple[int, int]:
        """A new id at epoch 0, or, for a known `name`, its id at the next epoch."""
        known = self._named.get(name) if name else None
        if known is not None and known[1] < MAX_EPOCH:
            given = (known[0], known[1] + 1)
        else:
            given = (self._next_id, 0)
            self._next_id += 1
        if name:
            self._named[name] = given
        return given

    def register_above(self, producer_id: int) -> int:
        """A new id greater than `producer_id`, which is in use."""
        self._next_id = max(self._next_id, producer_id + 1)
        return self.register()[0]

    def restore(self, state: ProducerIdsState) -> None:
        self._next_id = state.next_id
        self._named = dict(state.named)

    def state(self) -> ProducerIdsState:
        """The state to save. It reserves a block of ids, so that none is reused where the last state was not saved."""
        return ProducerIdsState((self._next_id // _BLOCK + 1) * _BLOCK, dict(self._named))
