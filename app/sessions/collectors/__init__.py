"""Collectors of the event stream of one session."""
