"""Reports from the window: Spark started beside it, progress, and what was made lately."""
