from __future__ import annotations

from fractions import Fraction

from broker_core.clock import NS_PER_S


class TokenBucket:
    """Refills at `rate_per_s` up to `burst`, and starts full. Counts fractions of a token in integers, exactly."""

    def __init__(self, rate_per_s: float, burst: float) -> None:
        """The rate is above 0, the burst at least 1."""
        rate = Fraction(rate_per_s)
        self.rate_per_s = rate_per_s
        self._parts_per_ns = rate.numerator
        self._parts_per_token = NS_PER_S * rate.denominator
        self._full_parts = int(Fraction(burst) * self._parts_per_token)
        self._parts = self._full_parts
        self._counted_ns: int | None = None

    def _refill(self, now_ns: int) -> None:
        if self._counted_ns is None:
            self._counted_ns = now_ns
        elapsed_ns = now_ns - self._counted_ns
        if elapsed_ns > 0:  # ignore a clock that was set back
            self._parts = min(self._parts + elapsed_ns * self._parts_per_ns, self._full_parts)
            self._counted_ns = now_ns

    def tokens(self, now_ns: int) -> float:
        """The number of tokens; below 0 after more than the burst was taken at once."""
        self._refill(now_ns)
        return self._parts / self._parts_per_token

    def wait_ns(self, now_ns: int, n: int = 1) -> int:
        """Nanoseconds until `n` tokens can be taken. More than the burst can be taken from a full bucket."""
        self._refill(now_ns)
        missing = min(n * self._parts_per_token, self._full_parts) - self._parts
        return -(-missing // self._parts_per_ns) if missing > 0 else 0

    def spend(self, now_ns: int, n: int) -> int:
        """Take `n` tokens, even more than there are. Returns the nanoseconds until what is missing has come."""
        self._refill(now_ns)
        self._parts -= n * self._parts_per_token
        return -(self._parts // self._parts_per_ns) if self._parts < 0 else 0

    def take(self, now_ns: int, n: int = 1) -> int:
        """Take `n` tokens and return 0, or take none and return the nanoseconds to wait."""
        wait_ns = self.wait_ns(now_ns, n)
        if not wait_ns:
            self._parts -= n * self._parts_per_token
        return wait_ns
