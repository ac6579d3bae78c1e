from __future__ import annotations

from pathlib import Path

import resources
from broker_core.errors import ScenarioError


class DataFiles:
    """Finds the files that a scenario names: beside the scenario first, then among the shipped sample data."""

    def __init__(self, scenario: Path) -> None:
        self._folder = scenario.resolve().parent

    def __call__(self, name: str) -> Path:
        """The path of `name`. Raises `ScenarioError`."""
        candidates = [self._folder / name]
        if Path(name).name == name:
            candidates.append(resources.path("sample_data") / name)
        for candidate in candidates:
            if candidate.is_file():
                return candidate
        raise ScenarioError(f"The scenario reads {name}, which is neither in {self._folder} nor among the sample data.")
