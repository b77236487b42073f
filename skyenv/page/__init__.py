"""The page: games played, watched and replayed in a browser.

* :mod:`~skyenv.page.session`: a game with people and agents;
  :mod:`~skyenv.page.payloads`: the JSON that a seat receives
* :mod:`~skyenv.page.catalogue`: the agents on offer; :mod:`~skyenv.analysis.hints`: their moves and
  hints
* :mod:`~skyenv.page.replays`, :mod:`~skyenv.page.chart`: recorded games, step by step
* :mod:`~skyenv.page.export`: a replay in one HTML file; needs no web framework
* :mod:`~skyenv.page.storage`: the SQLite database; :mod:`~skyenv.page.game_server`: all games of
  a server, with permissions
* :mod:`~skyenv.page.people`: presence, changes of player, rematches and takebacks
* :mod:`~skyenv.page.addresses`: listening addresses and host names
* :mod:`~skyenv.page.routes`: the URLs, by parts of the page; :mod:`~skyenv.page.requests`: reading
  and checking of requests; :mod:`~skyenv.page.web`: the ASGI application. Only these modules use
  the web framework
* :mod:`~skyenv.page.commands`: ``python -m skyenv play`` and ``python -m skyenv export``
"""
