"""The wire protocol: what a client and a broker say to each other, as bytes and as values. No sockets in here."""
