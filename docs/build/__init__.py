"""Builders of generated docs: tables, drawings, the rules page, the site, screenshots."""
