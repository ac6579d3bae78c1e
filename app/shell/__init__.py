"""The program around the window: its start and end, settings, jobs, menus and frames."""
