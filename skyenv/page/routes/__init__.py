"""The addresses of the page, a module for each of its parts; each lists its own in ``ROUTES``."""
