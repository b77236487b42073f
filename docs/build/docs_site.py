"""MkDocs hooks (mkdocs.yml) for the site's pages outside docs/.

The links of pages are relative to the repository, and these hooks adapt them to the site. Linked
files outside docs/ become pages of the site: Markdown unchanged, code as a code block, notebooks as
Markdown. Every package but the page's server gets a page of the API reference.
"""

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
# Folders of the packages in the API reference.
SOURCES: Final = {"skyenv": ROOT / "skyenv", "skyenv_agents": ROOT / "agents" / "skyenv_agents"}
PROGRAMS: Final = {"cli", "__main__"}
PICTURES: Final = (".gif", ".png", ".svg")
# No user of the package imports the server.
UNLISTED: Final = ROOT / "skyenv" / "page"
LINK: Final = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)#\s]+)")
# Replacements in docstrings: roles, colons before examples, and doctests, as Markdown.
DOCSTRING: Final = {
    r":(?:attr|class|data|func|meth|mod):`~?([^`]+)`": r"`\1`",
    r"(?<=\S)::$": ":",
    r"((?:^ *>>> .*\n)(?:^ *\S.*(?:\n|\Z))*)": r"```pycon\n\1\n```\n",
}


def address(path: str) -> str:
    """Return the path on the site of a file of the repository."""
    if path == "README.md":
        return "index.md"
    inside = path.removeprefix("docs/")
    if inside.endswith(".ipynb"):
        return f"notebooks/{inside.removesuffix('.ipynb')}.md"
    return inside if inside.endswith((".md", *PICTURES)) else f"{inside}.md"


def text_of(path: str) -> str:
    """Return the Markdown text of a page for a file of the repository."""
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
    """Return a page's links to files of the repository, with the files' paths from the root."""
    folder = posixpath.dirname(path)
    links = {
        link: posixpath.normpath(posixpath.join(folder, link)) for _, link in LINK.findall(text)
    }
    return {link: target for link, target in links.items() if (ROOT / target).is_file()}


def pages() -> dict[str, str]:
    """Return the texts of all pages made from files, by the files' paths from the root."""
    docs = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.ipynb")]
    pending = [path.relative_to(ROOT).as_posix() for path in docs]
    pending += ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
    found: dict[str, str] = {}
    while pending:
        path = pending.pop()
        if path in found or path.endswith(PICTURES):
            continue
        found[path] = text_of(path)
        pending += linked(path, found[path]).values() if path.endswith((".md", ".ipynb")) else ()
    return found


def reference() -> dict[str, str]:
    """Return the pages of the API reference, one per package, by their paths on the site."""
    made = {}
    for top, folder in SOURCES.items():
        packages = sorted(path.parent for path in folder.rglob("__init__.py"))
        for package in [one for one in packages if not one.is_relative_to(UNLISTED)]:
            name = ".".join([top, *package.relative_to(folder).parts])
            inside = sorted(file.stem for file in package.glob("*.py") if file.stem != "__init__")
            modules = [name, *(f"{name}.{stem}" for stem in inside if stem not in PROGRAMS)]
            texts = [f"# `{name}`", *(f"::: {module}" for module in modules)]
            made[f"api/{name}.md"] = "\n\n".join(texts)
    return made


class Docstrings(Extension):  # type: ignore[misc]
    """A Griffe extension that converts docstrings to Markdown."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Convert an object's docstring."""
        if obj.docstring is not None:
            for pattern, replacement in DOCSTRING.items():
                text = re.sub(pattern, replacement, obj.docstring.value, flags=re.MULTILINE)
                obj.docstring.value = text


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the reference to the navigation."""
    names = [{Path(page).stem: page} for page in reference()]
    config.nav = [*(config.nav or ()), {"API reference": names}]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add pages from outside docs/, notebooks and the reference to the site."""
    for path, text in pages().items():
        if not (path.startswith("docs/") and path.endswith(".md")):
            is_text = path.endswith((".md", ".ipynb"))
            listed = InclusionLevel.INCLUDED if is_text else InclusionLevel.NOT_IN_NAV
            made = File.generated(config, address(path), content=text, inclusion=listed)
            files.append(made)
    for path, text in reference().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace links to files of the repository by links to their pages."""
    source = page.file.src_uri
    if source.startswith("api/"):
        return markdown
    path = next(path for path in pages() if address(path) == source)
    links = {
        link: posixpath.relpath(address(target), posixpath.dirname(source))
        for link, target in linked(path, markdown).items()
    }
    return LINK.sub(lambda match: match[1] + links.get(match[2], match[2]), markdown)
