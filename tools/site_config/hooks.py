"""What MkDocs does not do itself: pages from outside docs/, and links that work on a code host as well.

Pages link to files of the repository by relative paths. README.md is the site's first page, other Markdown files keep
their paths, and a source file that a page links to becomes a page under source/, which the search ignores. Every link
is rewritten to the page of its file. The anchors of headings are those of the code hosts.
"""
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import markdown_text  # pylint: disable=wrong-import-position

LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".cu": "cuda", ".c": "c", ".py": "python", ".cmake": "cmake", ".txt": "cmake",
             ".json": "json", ".toml": "toml", ".yml": "yaml"}


WIDE = ".md-grid { max-width: 76rem; }\n"  # code has up to 120 columns


def place(path):
    """The page of a file, named from the root of the repository."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if path.endswith(".md") else f"source/{path}.md"


def file_of(page):
    """The file of a page: `place` backwards."""
    if page == "index.md":
        return "README.md"
    if page.startswith("source/"):
        return page.removeprefix("source/").removesuffix(".md")
    return f"docs/{page}" if (ROOT / "docs" / page).is_file() else page


def linked(path, target):
    """(file, #fragment) of a relative link in the file `path`."""
    name, mark, fragment = target.partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
    return file, mark + fragment


def source_page(path):
    """A source file as a page."""
    text = (ROOT / path).read_text(encoding="utf-8")
    fence = "`" * (3 + max(map(len, re.findall(r"`+", text)), default=0))
    script = "text" if not text.startswith("#!") else "python" if "python" in text[:40] else "bash"
    language = LANGUAGES.get(pathlib.Path(path).suffix, script)
    head = f"---\ntitle: {path}\nsearch:\n  exclude: true\nhide: [toc]\n---\n\n# `{path}`\n\n"
    return f'{head}{fence} {{.{language} linenums="1"}}\n{text}{fence}\n'


def on_config(config):
    config.mdx_configs["toc"]["slugify"] = markdown_text.slug


def on_files(files, config):
    files.append(File.generated(config, "wide.css", content=WIDE))
    waiting = ["README.md", *("docs/" + file.src_uri for file in files.documentation_pages())]
    known = set(waiting)
    while waiting:
        path = waiting.pop()
        if not path.startswith("docs/"):
            content = (ROOT / path).read_text(encoding="utf-8") if path.endswith(".md") else source_page(path)
            files.append(File.generated(config, place(path), content=content))
        if path.endswith(".md"):
            text = (ROOT / path).read_text(encoding="utf-8")
            targets = [target for _, _, target in markdown_text.links(text) if markdown_text.is_relative(target)]
            new = {linked(path, target)[0] for target in targets} - known
            new = {file for file in new if not file.startswith("docs/")}
            known |= new
            waiting += sorted(new)
    return files


def on_page_markdown(markdown, page, **_):
    path = file_of(page.file.src_uri)
    if path == "README.md":
        page.meta["hide"] = ["navigation"]
    if not path.endswith(".md"):
        return markdown
    for start, end, target in reversed(markdown_text.links(markdown)):
        if markdown_text.is_relative(target):
            file, fragment = linked(path, target)
            there = posixpath.relpath(place(file), posixpath.dirname(page.file.src_uri) or ".")
            markdown = markdown[:start] + there + fragment + markdown[end:]
    return markdown
