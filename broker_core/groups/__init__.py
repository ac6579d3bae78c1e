"""Consumer groups: membership, assignment, rebalances, committed offsets."""
