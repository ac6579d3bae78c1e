"""Handlers of operations: each translates a request into a call of the broker, and its result back."""

CLIENT = "admin"  # the client in the events of these operations
