"""Faults that clients from outside meet: delays, errors, lost replies. No sockets here; listeners ask."""
