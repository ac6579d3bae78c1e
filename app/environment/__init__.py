"""The environment of the program: settings, folders, language, display, installed parts, exit codes."""
