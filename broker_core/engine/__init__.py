"""The engine: it drives time, runs tasks, and shares the interpreter with a window."""
