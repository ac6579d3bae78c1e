"""Start-up, wiring, commands, jobs and the view models."""
