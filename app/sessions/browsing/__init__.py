"""Lists that are too long for a snapshot, read from the broker a page at a time while a panel shows them."""
