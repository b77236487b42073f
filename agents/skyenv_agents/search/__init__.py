"""Search agents: Monte Carlo simulations in sampled determinizations."""
