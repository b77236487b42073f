"""Builders of generated docs: tables, drawings, the rules page and the site."""
