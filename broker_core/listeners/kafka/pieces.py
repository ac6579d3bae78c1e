"""Answers that a fault lets out piece by piece."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.faults.client_faults import ClientFault


def send_pieces(
    frame: memoryview,
    fault: ClientFault,
    later: Callable[[float, Callable[[], object]], object],
    put: Callable[[memoryview], bool],
    done: Callable[[], object],
) -> None:
    """`put` piece by piece, also what is left when the fault ends, then `done`; at once if `put` returns False.

    `later(seconds, action)` calls the action then.
    """
    size_bytes, wait_s = fault.piece(len(frame))
    rest = frame[size_bytes:]

    def go_on() -> None:
        if not put(frame[:size_bytes]) or not rest:
            done()
        else:
            send_pieces(rest, fault, later, put, done)

    later(wait_s, go_on)
