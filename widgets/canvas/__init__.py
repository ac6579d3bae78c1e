"""The canvas: producers, topics, groups, queues and what flows between them, live."""
