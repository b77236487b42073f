"""Recorded games: the library, replays, charts, exports."""
