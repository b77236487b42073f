"""What teaches the game, by the interface."""

from __future__ import annotations

from pages import client_of, make_app


def test_the_rules_have_a_page() -> None:
    with client_of(make_app()) as client:
        answer = client.get("/rules")
        assert answer.status_code == 200
        assert 'id="AUC-4"' in answer.text
        assert client.get("/rules", headers={"if-none-match": answer.headers["etag"]}).content in (b"", answer.content)
        assert client.get("/static/rules/board-dark.svg").headers["content-type"].startswith("image/svg+xml")
