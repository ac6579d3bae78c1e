"""The lab: scenarios of producers, consumers and workers that run against a broker in session time."""

from broker_core.lab.actor import Actor
from broker_core.lab.scenario import Scenario, ScenarioError, load_scenario, parse_scenario
from broker_core.lab.simulation import Simulation

__all__ = ["Actor", "Scenario", "ScenarioError", "Simulation", "load_scenario", "parse_scenario"]
