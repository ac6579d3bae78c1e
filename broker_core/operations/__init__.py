"""The operations of a broker: one struct per operation, next to its result, and the catalogue of all of them."""
