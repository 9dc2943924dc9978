#!/usr/bin/env python3
"""Builds the documentation as a site with search, from docs/*.md and the groups of docs/INDEX.md.

    docs_site.py OUT [HOMEPAGE]

A link or an anchor that leads nowhere ends the build. Links to other files of the repository lead
to HOMEPAGE; without it they are shown as plain text.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# A code block of 120 columns fits beside the sidebar and the table of contents.
WIDE = """
.highlight pre { font-size: 75%; }
@media (min-width: 63em) { .content { width: min(60em, 100vw - 23em); } }
@media (min-width: 82em) { .content { width: min(60em, 100vw - 38em); } }
"""
LINK = re.compile(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def slug(title):
    """A heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def groups(index):
    """The headings of docs/INDEX.md, each with the pages that it links, in order."""
    found, group = {}, None
    for line in index.splitlines():
        if line.startswith("## "):
            group = found.setdefault(line[3:], [])
        elif group is not None:
            group += re.findall(r"\]\((\w+)\.md\)", line)
    return found


def for_site(text, page, homepage):
    def link(found):
        words, path, anchor = found.groups()
        target = (page.parent / path).resolve()
        if target.suffix == ".md" and DOCS in target.parents:
            return found[0]
        if not target.exists():
            sys.exit(f"docs: {page.relative_to(ROOT)}: there is no {path}")
        where = target.relative_to(ROOT)
        if homepage:
            kind = "tree" if target.is_dir() else "blob"
            return f"[{words}]({homepage}/{kind}/main/{where}{anchor or ''})"
        return words if "`" in words or str(where) in words else f"{words} (`{where}`)"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def sidebar(caption, pages):
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"


def write_source(source, homepage):
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(DOCS / "pictures", source / "pictures")
    (source / "static").mkdir()
    (source / "static" / "wide.css").write_text(WIDE)
    for page in DOCS.rglob("*.md"):
        copy = source / page.relative_to(DOCS)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(for_site(page.read_text(), page, homepage))
    decisions = [f"decisions/{page.stem}" for page in sorted((DOCS / "decisions").glob("*.md"))]
    index = source / "INDEX.md"
    index.rename(source / "index.md")
    with open(source / "index.md", "a") as file:
        for caption, pages in groups((DOCS / "INDEX.md").read_text()).items():
            file.write("\n" + sidebar(caption, pages))
        file.write("\n" + sidebar("Decisions", decisions))


def build(source, out):
    from sphinx.application import Sphinx
    settings = {
        "project": "Brigade", "html_title": "Brigade", "html_theme": "furo",
        "html_static_path": [str(source / "static")], "html_css_files": ["wide.css"],
        "html_show_sphinx": False, "html_copy_source": False, "html_show_copyright": False,
        "extensions": ["myst_parser"], "root_doc": "index",
        "myst_heading_anchors": 4, "myst_heading_slug_func": "docs_site.slug",
        # Shown output and parts of files are no whole programs for the highlighter.
        "suppress_warnings": ["misc.highlighting_failure"],
    }
    site = Sphinx(source, None, out, out.with_name("doctrees"), "html", settings, status=None,
                  freshenv=True, warningiserror=True)
    site.build(force_all=True)
    return site.statuscode


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    homepage = sys.argv[2].rstrip("/") if len(sys.argv) > 2 else ""
    source = out.with_name("source")
    write_source(source, homepage)
    shutil.rmtree(out, ignore_errors=True)
    if status := build(source, out):
        sys.exit(status)
    print(f"docs: {out}/index.html")


if __name__ == "__main__":
    main()
