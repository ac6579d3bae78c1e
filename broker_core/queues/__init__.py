"""Work queues: a queue is a log that is read with leases (KIP-932)."""
