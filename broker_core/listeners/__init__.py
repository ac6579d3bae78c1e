"""Listeners: the broker, opened to other programs on this machine or elsewhere."""
