"""What surrounds the program: settings, folders, language, display, installed parts, exit codes."""
