"""How session time follows the wall clock at a speed, and how far it lags where the engine cannot hold it."""

from __future__ import annotations

from broker_core.clock import NS_PER_S, s_from_ns

# Of wall time that is made up for. More is lost, else a stall would be followed by a burst that nobody asked for.
MAX_DEBT_S = 0.5
STEADY_S = 0.5  # of wall time without a lag, after which the engine holds its speed again


class Pace:
    """`wall_s` is any clock that does not go back; session times are ns."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._anchor: tuple[float, int] = (0.0, 0)
        self._lost_ns = 0
        self._debt_ns = 0
        self._missed_s = 0.0

    def start(self, wall_s: float, session_ns: int) -> None:
        """From now on, session time passes at `speed`; what was lost is forgotten."""
        self._anchor = (wall_s, session_ns)
        self._lost_ns = self._debt_ns = 0

    def due_ns(self, wall_s: float) -> int:
        """Where session time should be."""
        began_s, began_ns = self._anchor
        return began_ns + round((wall_s - began_s) * self.speed * NS_PER_S)

    def wait_s(self, wall_s: float, session_ns: int) -> float:
        """How long until `session_ns` is due."""
        began_s, began_ns = self._anchor
        return max(0.0, began_s + s_from_ns(session_ns - began_ns) / self.speed - wall_s)

    def kept(self, wall_s: float) -> None:
        """All that was due is done."""
        self._debt_ns = 0
        if wall_s - self._missed_s > STEADY_S:
            self._lost_ns = 0

    def missed(self, wall_s: float, session_ns: int) -> None:
        """Session time has only come to `session_ns`. More than can be made up for is lost, for good."""
        self._missed_s = wall_s
        self._debt_ns = max(0, self.due_ns(wall_s) - session_ns)
        if self._debt_ns > MAX_DEBT_S * self.speed * NS_PER_S:
            self._lost_ns += self._debt_ns
            self._debt_ns = 0
            self._anchor = (wall_s, session_ns)

    @property
    def behind_s(self) -> float:
        """Session seconds that are owed or lost since the engine last held its speed; 0.0 while it does."""
        return s_from_ns(self._lost_ns + self._debt_ns)
