"""The commands that work on a broker without a window: on a data directory, or on one that runs."""
