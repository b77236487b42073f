"""Teaching the game: the rules for people, and a lesson that is played."""
