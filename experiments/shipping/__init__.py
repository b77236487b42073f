"""Programs that make the files that ship: networks, tuned weights, beginnings of tasks."""
