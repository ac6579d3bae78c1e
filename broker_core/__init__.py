"""The broker core: a deterministic broker without Qt, threads of its own, or a clock of its own."""
