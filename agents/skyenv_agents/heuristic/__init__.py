"""Players that judge every legal action by rules of thumb with weights, one action ahead."""
