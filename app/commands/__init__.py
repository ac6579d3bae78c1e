"""The commands of the window. A class is one family of commands: their entries for the registry, and their handlers."""
