"""Clients in process: they call the broker with the loop's time and wait for its replies as tasks of the loop."""
