"""What is on the screen, a panel a file: knows view models and signals, never the broker."""
