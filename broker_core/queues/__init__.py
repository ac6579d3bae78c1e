"""Work queues: a queue is a log read with leases (KIP-932)."""
