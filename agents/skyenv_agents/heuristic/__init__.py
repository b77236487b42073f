"""Players that score every legal action by rules of thumb with weights, one action ahead."""
