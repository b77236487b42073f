"""Games with people: sessions, all games of a server, new games."""
