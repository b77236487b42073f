"""Programs that make the files that ship: networks and openings of tasks."""
