"""Players that score_actions every legal action by rules of thumb with weights, one action ahead."""
