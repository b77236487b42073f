"""The page: games played, watched and replayed in a browser. HTTP, sessions, storage, static files.

Estimates and analyses are :mod:`skyenv.analysis`. Only :mod:`~skyenv.page.routes`,
:mod:`~skyenv.page.requests` and :mod:`~skyenv.page.web` use the web framework.
"""
