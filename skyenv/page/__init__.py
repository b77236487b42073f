"""The page: games played, watched and replayed in a browser.

* :mod:`~skyenv.page.session`: a game with people and agents at its table;
  :mod:`~skyenv.page.payloads`: what a seat is told of it
* :mod:`~skyenv.page.catalogue`: the agents that can be chosen; :mod:`~skyenv.page.hints`: what one
  would do and how sure it is
* :mod:`~skyenv.page.replays`, :mod:`~skyenv.page.chart`: recorded games, to be looked at step by
  step
* :mod:`~skyenv.page.export`: a replay in one file; needs no web framework
* :mod:`~skyenv.page.storage`: SQLite; :mod:`~skyenv.page.game_server`: all sessions of a server,
  and who may do what
* :mod:`~skyenv.page.people`: who is there, who takes over, games made from others
* :mod:`~skyenv.page.addresses`: where to listen and what to be called
* :mod:`~skyenv.page.routes`: addresses, by the page's parts; :mod:`~skyenv.page.requests`: what a
  request says, checked; :mod:`~skyenv.page.web`: what all requests go through. These alone know the
  web framework
* :mod:`~skyenv.page.commands`: ``python -m skyenv play`` and ``python -m skyenv export``
"""
