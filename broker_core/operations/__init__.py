"""What a broker can be asked: one struct an operation, its result beside it, and the catalogue of them all."""
