"""MkDocs hooks (mkdocs.yml) for the site's pages outside docs/.

Pages are written to be read in the repository. On the site their links lead to pages of the site:
linked files outside docs/ come in, Markdown as it is and code as a page that shows it; notebooks
become pages; every package gets a page of the API reference.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any, Final

from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = {"skyenv": ROOT / "skyenv", "skyenv_agents": ROOT / "agents" / "skyenv_agents"}
"""The packages of the reference."""
PROGRAMS: Final = {"cli", "__main__"}
PICTURES: Final = (".png", ".svg")
LINK: Final = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)#\s]+)")
DOCSTRING: Final = {
    r":(?:attr|class|data|func|meth|mod):`~?([^`]+)`": r"`\1`",
    r"(?<=\S)::$": ":",
    r"((?:^ *>>> .*\n)(?:^ *\S.*(?:\n|\Z))*)": r"```pycon\n\1\n```\n",
}
"""Roles, colons before examples, and examples at the prompt, as Markdown."""


def address(path: str) -> str:
    """Return the place on the site of a file of the repository."""
    if path == "README.md":
        return "index.md"
    inside = path.removeprefix("docs/")
    if inside.endswith(".ipynb"):
        return f"notebooks/{inside.removesuffix('.ipynb')}.md"
    return inside if inside.endswith((".md", *PICTURES)) else f"{inside}.md"


def text_of(path: str) -> str:
    """Return a file of the repository as a page."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    if not path.endswith(".ipynb"):
        return f"# {path}\n\n```{path.rpartition('.')[2]}\n{text}```\n"
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        printed = "".join("".join(output.get("text", "")) for output in cell.get("outputs", ()))
        parts += [f"```text\n{printed.rstrip()}\n```"] if printed else []
    return "\n\n".join(parts)


def linked(path: str, text: str) -> dict[str, str]:
    """Return the links of a page to files of the repository, with their paths from the root."""
    folder = posixpath.dirname(path)
    links = {
        link: posixpath.normpath(posixpath.join(folder, link)) for _, link in LINK.findall(text)
    }
    return {link: target for link, target in links.items() if (ROOT / target).is_file()}


def pages() -> dict[str, str]:
    """Return the text of every page that comes from a file, by the file's path from the root."""
    docs = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.ipynb")]
    left = [path.relative_to(ROOT).as_posix() for path in docs]
    left += ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
    found: dict[str, str] = {}
    while left:
        path = left.pop()
        if path in found or path.endswith(PICTURES):
            continue
        found[path] = text_of(path)
        left += linked(path, found[path]).values() if path.endswith((".md", ".ipynb")) else ()
    return found


def reference() -> dict[str, str]:
    """Return the pages of the API reference, one for each package, by their addresses."""
    made = {}
    for top, folder in SOURCES.items():
        for package in sorted(path.parent for path in folder.rglob("__init__.py")):
            name = ".".join([top, *package.relative_to(folder).parts])
            inside = sorted(file.stem for file in package.glob("*.py") if file.stem != "__init__")
            modules = [name, *(f"{name}.{stem}" for stem in inside if stem not in PROGRAMS)]
            texts = [f"# `{name}`", *(f"::: {module}" for module in modules)]
            made[f"api/{name}.md"] = "\n\n".join(texts)
    return made


class Docstrings(Extension):  # type: ignore[misc]
    """Makes docstrings Markdown, when the reference is read."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Change the text of an object's docstring."""
        if obj.docstring is not None:
            for pattern, instead in DOCSTRING.items():
                text = re.sub(pattern, instead, obj.docstring.value, flags=re.MULTILINE)
                obj.docstring.value = text


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the reference to the navigation."""
    names = [{Path(page).stem: page} for page in reference()]
    config.nav = [*(config.nav or ()), {"API reference": names}]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/, the notebooks and the reference."""
    for path, text in pages().items():
        if not (path.startswith("docs/") and path.endswith(".md")):
            is_text = path.endswith((".md", ".ipynb"))
            listed = InclusionLevel.INCLUDED if is_text else InclusionLevel.NOT_IN_NAV
            made = File.generated(config, address(path), content=text, inclusion=listed)
            files.append(made)
    for where, text in reference().items():
        files.append(File.generated(config, where, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files of the repository to their pages."""
    here = page.file.src_uri
    if here.startswith("api/"):
        return markdown
    path = next(path for path in pages() if address(path) == here)
    links = {
        link: posixpath.relpath(address(target), posixpath.dirname(here))
        for link, target in linked(path, markdown).items()
    }
    return LINK.sub(lambda match: match[1] + links.get(match[2], match[2]), markdown)
