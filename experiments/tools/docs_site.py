"""What the docs' site has beside the pages of docs/: hooks that MkDocs calls (mkdocs.yml).

Pages are written to be read in the repository. Here their links lead to pages of the site: files
outside docs/ that are linked come in, Markdown as it is and code as a page that shows it; notebooks
become pages; and every room of the layers in docs/design.md gets a page of the API reference.
"""

from __future__ import annotations

import ast
import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = {"skyenv": ROOT / "skyenv", "skyenv_agents": ROOT / "agents" / "skyenv_agents"}
"""The packages that the reference describes; programs that are run from a clone describe themselves
(``--help``).
"""
PROGRAMS: Final = {"skyenv.cli", "skyenv.__main__"}
"""Modules that nobody imports."""
LINK: Final = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)#\s]+)")
DOCSTRING: Final = {
    r":(?:attr|class|data|func|meth|mod):`~?([^`]+)`": r"`\1`",
    r"(?<=\S)::$": ":",
    r"((?:^ *>>> .*\n)(?:^ *\S.*(?:\n|\Z))*)": r"```pycon\n\1\n```\n",
}
"""What Markdown writes otherwise than docstrings do: names, the colon before an example, examples
as at the prompt.
"""


# ---- pages that stand in the repository ----


def address(path: str) -> str:
    """Where a file of the repository stands on the site."""
    match path.partition("/"):
        case "docs", _, inside if inside.endswith(".ipynb"):
            return f"notebooks/{inside.removesuffix('.ipynb')}.md"
        case "docs", _, inside:
            return inside
        case "README.md", *_:
            return "index.md"
    return path if path.endswith(".md") else f"{path}.md"


def linked(path: str, text: str) -> list[tuple[str, str]]:
    """The links of a page to files of the repository: as they stand there, and from the root."""
    links = [
        (link, posixpath.normpath(posixpath.join(posixpath.dirname(path), link)))
        for _, link in LINK.findall(text)
    ]
    return [(link, target) for link, target in links if (ROOT / target).is_file()]


def outside(pages: list[str]) -> dict[str, str]:
    """The text of every page outside docs/ that pages lead to, by its path from the root."""
    found: dict[str, str] = {}
    while pages:
        page = pages.pop()
        text = (ROOT / page).read_text(encoding="utf-8")
        if page.startswith("docs/"):
            pass
        elif page.endswith(".md"):
            found[page] = text
        else:
            found[page] = f"# {page}\n\n```{page.rpartition('.')[2]}\n{text}```\n"
            continue
        targets = (target for _, target in linked(page, text))
        pages += [
            one
            for one in targets
            if not one.startswith("docs/") and one != "README.md" and one not in found
        ]
    return found


def in_the_docs(pattern: str) -> list[str]:
    """Files of docs/ from the root, such as all notebooks by ``"*.ipynb"``."""
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob(pattern))]


def repository_path(page: str) -> str:
    """The file that became a page of the site (:func:`address` leads back)."""
    if page.startswith("notebooks/"):
        return f"docs/{page.removeprefix('notebooks/').removesuffix('.md')}.ipynb"
    return page if (ROOT / page).is_file() else f"docs/{page}"


def notebook_page(path: Path) -> str:
    """A notebook as a page: its text, its code, and what it has printed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        printed = "".join("".join(output.get("text", "")) for output in cell.get("outputs", ()))
        if printed:
            parts.append(f"```text\n{printed.rstrip()}\n```")
    title, *rest = parts
    file = path.relative_to(ROOT / "docs")
    return "\n\n".join(
        [
            title,
            f"[The notebook itself]({'../' * len(file.parts)}{file.as_posix()}){{ download }}",
            *rest,
        ]
    )


# ---- the API reference ----


def rooms() -> list[str]:
    """The rooms of the layer table that the reference describes, from the lowest layer to the
    highest.
    """
    design = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    table = re.search(r"```layers\n(.*?)```", design, re.DOTALL)
    assert table is not None
    named = re.sub(r"#.*", "", table[1]).split()
    return [room for room in named if room.partition(".")[0] in SOURCES and room not in PROGRAMS]


def modules(room: str) -> Iterator[str]:
    """The modules of a room, its own first."""
    top, *inside = room.split(".")
    path = SOURCES[top].joinpath(*inside)
    if not path.is_dir() or not inside:
        yield room
        return
    for file in sorted(
        path.rglob("*.py"), key=lambda file: (file.parent != path, file.stem != "__init__", file)
    ):
        names = (
            name for name in file.relative_to(path).with_suffix("").parts if name != "__init__"
        )
        module = ".".join([room, *names])
        if module == room or module not in rooms():
            yield module


def source(module: str) -> ast.Module:
    """What a module consists of; nothing if it is a folder alone."""
    top, *inside = module.split(".")
    path = SOURCES[top].joinpath(*inside)
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")


def summary(module: str) -> str:
    """The first sentence of a module's text."""
    return (ast.get_docstring(source(module)) or "").partition("\n\n")[0].replace("\n", " ")


def room_page(room: str) -> str:
    """The page of a room: its modules, one after the other."""
    if room in SOURCES:
        return f"# `{room}`\n\n{summary(room)}\n\n{exports(room)}"
    inside = list(modules(room))
    if inside == [room]:
        return f"::: {room}\n    options:\n      heading_level: 1"
    return "\n\n".join([f"# `{room}`", *(f"::: {module}" for module in inside)])


def exports(package: str) -> str:
    """The names that a package offers, each with a link to where it is described."""
    lines = ["| name | described in |", "|---|---|"]
    for node in source(package).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in SOURCES:
            lines += [
                f"| [`{name.name}`][{node.module}.{name.name}] | `{node.module}` |"
                for name in node.names
            ]
    return "\n".join(lines)


def reference() -> dict[str, str]:
    """All pages of the reference by their addresses."""
    pages = {f"api/{room}.md": room_page(room) for room in rooms()}
    lines = [f"| [`{room}`]({room}.md) | {summary(room)} |" for room in reversed(rooms())]
    intro = "Made from the docstrings, a page for every room of the table of layers in [how it is built](../design.md):"
    pages["api/index.md"] = "\n".join(
        [
            "# API reference",
            "",
            f"{intro} what stands higher here imports what stands lower.",
            "",
            "| room | what is in it |",
            "|---|---|",
            *lines,
        ]
    )
    return pages


class Docstrings(Extension):  # type: ignore[misc]
    """Makes docstrings Markdown, when the reference is read."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Change the text of an object's docstring."""
        if obj.docstring is not None:
            for pattern, instead in DOCSTRING.items():
                obj.docstring.value = re.sub(
                    pattern, instead, obj.docstring.value, flags=re.MULTILINE
                )


# ---- what MkDocs calls ----


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The reference's part of the navigation, and pages for which mkdocs.yml has no place yet."""
    placed = set(re.findall(r"[\w./]+\.md", str(config.nav)))
    others = [
        page
        for page in map(address, in_the_docs("*.md") + in_the_docs("*.ipynb"))
        if page not in placed
    ]
    order = sorted(rooms(), key=lambda room: (room not in SOURCES, room))
    pages: list[Any] = ["api/index.md", *({room: f"api/{room}.md"} for room in order)]
    more = [{"More": others}] if others else []
    config.nav = [*(config.nav or ()), *more, {"API reference": pages}]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Pages from outside docs/, notebooks, the reference."""
    notebooks = in_the_docs("*.ipynb")
    pages = (
        [f"docs/{file.src_uri}" for file in files.documentation_pages()]
        + notebooks
        + ["CHANGELOG.md", "CONTRIBUTING.md"]
    )
    for path, text in outside(pages).items():
        listed = InclusionLevel.INCLUDED if path.endswith(".md") else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, address(path), content=text, inclusion=listed))
    for notebook in notebooks:
        files.append(
            File.generated(config, address(notebook), content=notebook_page(ROOT / notebook))
        )
    for where, text in reference().items():
        files.append(File.generated(config, where, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files of the repository lead to their pages here."""
    here = page.file.src_uri
    if here.startswith("api/"):
        return markdown
    links = {
        link: posixpath.relpath(address(target), posixpath.dirname(here))
        for link, target in linked(repository_path(here), markdown)
    }
    return LINK.sub(lambda match: match[1] + links.get(match[2], match[2]), markdown)
