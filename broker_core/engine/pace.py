"""The mapping from wall time to session time at a speed, and the lag where the engine cannot keep up."""

from __future__ import annotations

from broker_core.clock import NS_PER_S, s_from_ns

# The lag, in wall seconds, that is caught up. A larger one is dropped: a stall must not cause a burst.
MAX_DEBT_S = 0.5
STEADY_S = 0.5  # wall seconds without a lag after which `behind_s` is 0 again


class Pace:
    """The pace of an engine. `wall_s` is any monotonic clock in seconds; session times are in ns."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._anchor: tuple[float, int] = (0.0, 0)
        self._lost_ns = 0
        self._debt_ns = 0
        self._missed_s = 0.0

    def start(self, wall_s: float, session_ns: int) -> None:
        """Session time passes at `speed` from here; an earlier lag is forgotten."""
        self._anchor = (wall_s, session_ns)
        self._lost_ns = self._debt_ns = 0

    def due_ns(self, wall_s: float) -> int:
        """The session time that is due at `wall_s`."""
        began_s, began_ns = self._anchor
        return began_ns + round((wall_s - began_s) * self.speed * NS_PER_S)

    def wait_s(self, wall_s: float, session_ns: int) -> float:
        """Wall seconds until `session_ns` is due."""
        began_s, began_ns = self._anchor
        return max(0.0, began_s + s_from_ns(session_ns - began_ns) / self.speed - wall_s)

    def kept(self, wall_s: float) -> None:
        """Everything due has been done."""
        self._debt_ns = 0
        if wall_s - self._missed_s > STEADY_S:
            self._lost_ns = 0

    def missed(self, wall_s: float, session_ns: int) -> None:
        """Session time has only reached `session_ns`. A lag above MAX_DEBT_S is dropped."""
        self._missed_s = wall_s
        self._debt_ns = max(0, self.due_ns(wall_s) - session_ns)
        if self._debt_ns > MAX_DEBT_S * self.speed * NS_PER_S:
            self._lost_ns += self._debt_ns
            self._debt_ns = 0
            self._anchor = (wall_s, session_ns)

    @property
    def behind_s(self) -> float:
        """Session seconds lagged or dropped since the engine last kept up; 0.0 while it does."""
        return s_from_ns(self._lost_ns + self._debt_ns)
