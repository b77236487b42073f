"""Players from trained networks, and the pool of opponents that training draws from."""
