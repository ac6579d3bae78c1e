"""Handlers of routes that are more than asking the host."""
