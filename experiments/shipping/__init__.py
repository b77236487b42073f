"""Programs that make the files that ship: networks, tuned weights, openings of tasks."""
