"""Plans of what may be written to an observed cluster: redrives of dead letters, and committed offsets. No I/O."""
