"""Access to every listener: who may connect, how much one may send, how long one may take. No sockets here."""
