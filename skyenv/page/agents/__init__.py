"""The agents on offer: their preparation and their jobs."""
