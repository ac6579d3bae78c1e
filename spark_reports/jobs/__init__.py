"""The processes that make reports, from a command line to the exit code."""
