"""Sessions over a broker that runs elsewhere: what is seen of it becomes events and snapshots."""
