"""The broker: topics, groups, queues and their backpressure; `broker.py` composes its parts."""
