"""Handlers of operations: each translates a request into a call of the broker, and its result back."""
