"""What stands at every door: who may come in, how much they may carry, and how long they may take. No sockets here."""
