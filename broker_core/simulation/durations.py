from __future__ import annotations

import math
import random
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_core.clock import ns_from_ms
from broker_core.settings import NotNegativeNumber


class Duration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A processing time with mean `mean_ms`.

    `constant` is always the mean; `uniform` lies between 0 and twice the mean; `exponential` has the memoryless tail;
    `lognormal` has the long tail that real work has, the longer the larger `sigma`.
    """

    kind: Literal["constant", "uniform", "exponential", "lognormal"] = "constant"
    mean_ms: NotNegativeNumber
    sigma: Annotated[float, Meta(ge=0, le=3)] = 0.6

    def draw_ns(self, numbers: random.Random) -> int:
        match self.kind:
            case "constant":
                drawn_ms = self.mean_ms
            case "uniform":
                drawn_ms = numbers.uniform(0, 2 * self.mean_ms)
            case "exponential":
                drawn_ms = numbers.expovariate(1 / self.mean_ms) if self.mean_ms else 0.0
            case "lognormal":
                # The median that makes the mean come out at mean_ms.
                median_ms = self.mean_ms * math.exp(-(self.sigma**2) / 2)
                drawn_ms = median_ms * math.exp(self.sigma * numbers.gauss(0, 1))
        return ns_from_ms(drawn_ms)
