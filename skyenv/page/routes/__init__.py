"""The URLs of the page, a module for each part with its list ``ROUTES``."""
