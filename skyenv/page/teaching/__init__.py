"""The rules for readers, and the lesson."""
