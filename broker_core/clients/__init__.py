"""Clients in process call the broker with the loop's time and wait for its replies as tasks of the loop. Those over
HTTP are for a broker elsewhere.
"""
