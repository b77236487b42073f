"""Programs that measure: speed of engine, search, pictures and page; strength by budget."""
