"""Faults of external clients' requests: delays, errors, lost replies. Listeners apply them."""
