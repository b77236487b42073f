"""The docs as a site: it is built without a warning, everything in it can be reached, and nothing
is loaded from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from experiments.tools import docs_site
from experiments.tools.chromium import browser
from processes import ROOT, python

LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
"""What a browser loads with a page, by the element."""


class Reader(HTMLParser):
    """What a page leads to, what it loads, and the places in it that have a name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.names: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names |= {given["id"]} if "id" in given else set()
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loads += [part.split()[0] for part in given.get("srcset", "").split(",") if part]
        self.loads += [given[name] for name in (LOADED.get(tag, ""),) if name in given]


def elsewhere(addresses: list[str]) -> list[str]:
    """Those that need a network."""
    return [address for address in addresses if re.match(r"(https?:)?//", address)]


def loaded_by_styles(text: str) -> list[str]:
    """What a style sheet loads."""
    return re.findall(r"url\(\s*[\"']?([^\"')]+)", text) + re.findall(
        r"@import\s+[\"']([^\"']+)", text
    )


def test_loads_are_found() -> None:
    """The checks themselves."""
    page = Reader(
        '<a id="x" href="https://a.org">a</a><script src="//b.org/b.js"></script><link rel="stylesheet" href="https://c.org/c.css">'
        '<img src="d.png" srcset="https://e.org/e.png 2x, f.png"><iframe src="http://g.org"></iframe>'
    )
    assert page.links == ["https://a.org"]
    assert page.names == {"x"}
    assert elsewhere(page.loads) == [
        "//b.org/b.js",
        "https://c.org/c.css",
        "https://e.org/e.png",
        "http://g.org",
    ]
    style = "@import 'https://h.org/h.css'; a { background: url(https://i.org/i.png) } b { background: url('data:image/png') }"
    assert elsewhere(loaded_by_styles(style)) == ["https://i.org/i.png", "https://h.org/h.css"]


def test_links_to_the_repository_lead_to_pages() -> None:
    found = docs_site.outside(["docs/index.md", "docs/pictures.md"])
    assert {
        "skyenv/rules/RULES.md",
        "skyenv/rules/INTERFACE.md",
        "CHANGELOG.md",
        "skyenv/render/svg.py",
    } <= found.keys()
    assert found["skyenv/render/svg.py"].startswith("# skyenv/render/svg.py\n\n```py\n")
    assert not any(page.startswith("docs/") for page in found)
    addresses = [
        "docs/game.md",
        "docs/open_spiel.ipynb",
        "docs/table.png",
        "README.md",
        "CHANGELOG.md",
        "examples/ppo.py",
    ]
    pages = [
        "game.md",
        "notebooks/open_spiel.md",
        "table.png",
        "index.md",
        "CHANGELOG.md",
        "examples/ppo.py.md",
    ]
    assert [docs_site.address(path) for path in addresses] == pages


def test_every_module_is_in_the_reference() -> None:
    """Once, on the page of its room."""
    described = [
        name
        for text in docs_site.reference().values()
        for name in re.findall(r"^::: (.+)$", text, re.MULTILINE)
    ]
    files = {path for folder in docs_site.SOURCES.values() for path in folder.rglob("*.py")}
    assert len(described) == len(set(described))
    packages = len(docs_site.SOURCES)  # whose pages list what they offer
    assert len(described) == len(files) - len(docs_site.PROGRAMS) - packages
    assert (
        "| [`Games`][skyenv.engine.games.Games] | `skyenv.engine.games` |"
        in docs_site.reference()["api/skyenv.md"]
    )


def test_a_notebook_is_a_page() -> None:
    page = docs_site.notebook_page(ROOT / "docs" / "open_spiel.ipynb")
    assert page.startswith("# ")
    assert "(../open_spiel.ipynb)" in page
    assert page.count("```python\n") > 4
    assert page.count("```text\n") > 4
    tutorial = docs_site.notebook_page(ROOT / "docs" / "tutorials" / "first_agent.ipynb")
    assert "(../../tutorials/first_agent.ipynb)" in tutorial


def test_pages_lead_back_to_files() -> None:
    for path in [
        "docs/game.md",
        "docs/tutorials/first_agent.ipynb",
        "docs/open_spiel.ipynb",
        "CHANGELOG.md",
    ]:
        assert docs_site.repository_path(docs_site.address(path)) == path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    done = python(
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        folder,
        environment={"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Reader]:
    """All pages that were built."""
    return {path: Reader(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def targets(page: Path, reader: Reader) -> Iterator[tuple[Path, str]]:
    """The files that a page leads to, and the places in them."""
    for link in reader.links:
        if not re.match(r"\w+:|//", link):
            file, _, name = unquote(link).partition("#")
            yield (page.parent / file).resolve() if file else page, name


@pytest.mark.programs
def test_every_page_is_reached_and_no_link_is_dead(site: Path, pages: dict[Path, Reader]) -> None:
    known = {path.resolve(): reader for path, reader in pages.items()}
    reached: set[Path] = set()
    waiting = [site.resolve() / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in reached or page not in known:
            continue
        reached.add(page)
        for file, name in targets(page, known[page]):
            assert file.exists(), f"{page} leads to {file}"
            assert not name or name in known[file].names or name.startswith("__"), (
                f"{page} leads to {file}#{name}"
            )
            waiting.append(file)
    assert known.keys() - reached == {site.resolve() / "404.html"}


@pytest.mark.programs
def test_every_page_of_the_docs_is_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    navigation = Reader("".join(re.findall(r"<nav.*?</nav>", home, re.DOTALL)))
    wanted = {
        docs_site.address(path)
        for path in docs_site.in_the_docs("*.md") + docs_site.in_the_docs("*.ipynb")
    }
    wanted |= set(docs_site.reference())
    assert wanted - {link.replace(".html", ".md") for link in navigation.links} == set()


@pytest.mark.programs
def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Reader]) -> None:
    assert {
        path: elsewhere(reader.loads) for path, reader in pages.items() if elsewhere(reader.loads)
    } == {}
    styles = {
        path: elsewhere(loaded_by_styles(path.read_text(encoding="utf-8")))
        for path in site.rglob("*.css")
    }
    assert styles
    assert not any(styles.values()), styles


@pytest.mark.programs
def test_the_search_works_from_files(site: Path) -> None:
    """In a real browser, without a server; and whatever it loads meanwhile is a file."""
    with browser() as page:
        page.open((site / "index.html").as_uri())
        page.wait("[data-md-component=search-query]").send_keys("determinization")
        page.wait_until(
            lambda: "knowledge" in page.text(".md-search-result__list").lower(), "what is found"
        )
        loaded = page.run(
            "return [...document.querySelectorAll('[src], link')].map(one => one.src || one.href)"
        )
        assert any(name.endswith("iframe-worker.js") for name in loaded)
        assert [name for name in loaded if not name.startswith(("file:", "data:"))] == []
        assert page.complaints() == []
