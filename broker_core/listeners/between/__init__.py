"""Loopback ports that pass Kafka's protocol on to a real cluster: seen exactly, and disturbed where a fault is set."""
