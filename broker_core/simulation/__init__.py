"""Simulation: scenarios of producers, consumers and workers that run against a broker in session time."""

from broker_core.simulation.actor import Actor
from broker_core.simulation.scenario import Scenario, load_scenario, parse_scenario
from broker_core.simulation.simulation import Simulation

__all__ = ["Actor", "Scenario", "Simulation", "load_scenario", "parse_scenario"]
