"""Java found and started, Spark set up, and what it counts brought home in bounds."""
