"""What a session cost the machine it ran on, as far as the process can tell."""

from __future__ import annotations

import sys
import time


class Cost:
    """Measured from its making on; `add` takes what others have measured."""

    def __init__(self) -> None:
        self._wall_s = time.perf_counter()
        self._cpu_s = time.process_time()
        self._others: dict[str, float] = {}

    def add(self, **figures: float) -> None:
        """Figures that only others know, by a name that ends in its unit, such as `engine_s`."""
        self._others |= figures

    def figures(self) -> dict[str, float]:
        """`wall_s` and `process_cpu_s` since the beginning, `peak_memory_bytes` of the process where the system tells,
        and what was added.
        """
        found = {
            "wall_s": round(time.perf_counter() - self._wall_s, 3),
            "process_cpu_s": round(time.process_time() - self._cpu_s, 3),
            **{name: round(value, 3) for name, value in self._others.items()},
        }
        if sys.platform != "win32":
            import resource

            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            found["peak_memory_bytes"] = peak if sys.platform == "darwin" else peak * 1024
        return found
