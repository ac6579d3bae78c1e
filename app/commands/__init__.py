"""What every command does. A class is one family of commands: their entries for the registry, and their handlers."""
