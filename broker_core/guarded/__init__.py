"""What may be written to a cluster that is not ours: plans of redrives and of offsets, as values. No I/O."""
