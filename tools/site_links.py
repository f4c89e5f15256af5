"""A hook of mkdocs (mkdocs.yml): links and anchors that are right on GitHub are right on the site.

A site has only what is below docs/. A link to another file of the repository becomes the path of this file.
"""

import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")


def anchor_of(heading, separator):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = anchor_of
    return config


def on_page_markdown(markdown, page, **_):
    folder = (DOCS / page.file.src_path).parent

    def replaced(link):
        text, target = link.groups()
        path = (folder / target).resolve()
        if path.is_relative_to(DOCS):
            return link[0]
        name = path.relative_to(DOCS.parent).as_posix()
        return f"`{name}`" if text.rstrip("/") in name else f"{text} (`{name}`)"

    return LINK.sub(replaced, markdown)
