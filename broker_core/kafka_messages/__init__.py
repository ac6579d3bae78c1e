"""Kafka's messages as bytes, for the listener that serves them and for the observer of a cluster."""
