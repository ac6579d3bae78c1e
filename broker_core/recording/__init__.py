"""A session on disk: what the broker did, recorded while it happened and read back later. See FORMAT.md."""
