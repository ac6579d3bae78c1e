"""Kinds of events, and the names of what the passes find, which the tables look for."""

ENDS_IN_FLIGHT = ("acknowledged", "nacked", "released", "lease_expired")  # then a client has a message no more
WORKED = ("acknowledged", "nacked")  # after some work
FIRST, DONE, REPLAYED, REPLAYED_DONE = "delivered", "acknowledged", "replayed", "replayed and acknowledged"
MEASURES = (FIRST, DONE, REPLAYED, REPLAYED_DONE)  # of latency
RECOVERED, DIED_AGAIN, WAITING = "acknowledged", "died again", "waiting"  # what came of a redriven message
