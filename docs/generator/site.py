"""A hook of MkDocs, for `make site`: pages of the repository that are outside docs/ are part of the site too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
OUTSIDE = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
CODE = ("src", "examples", "tests", "benchmarks")


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name in OUTSIDE:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    return within_the_site(markdown, page.file.src_uri)


def within_the_site(markdown: str, page: str) -> str:
    """Links between pages of the repository, as they are on the site.

    >>> within_the_site("see [this](../../CONTRIBUTING.md#set-up)", "how-to/page.md")
    'see [this](../CONTRIBUTING.md#set-up)'
    >>> within_the_site("see [that](docs/tutorial.md) and ![it](docs/images/it.png)", "CONTRIBUTING.md")
    'see [that](tutorial.md) and ![it](images/it.png)'
    >>> within_the_site("see [`ds2.py`](../../src/penstock/policies/ds2.py)", "reference/policies.md")
    'see `ds2.py`'
    """
    if page in OUTSIDE:
        return markdown.replace("](docs/", "](")
    # The site has no source code: what links to it is its name there.
    markdown = re.sub(rf"\[([^\]]+)\]\((?:\.\./)+(?:{'|'.join(CODE)})/[^)]*\)", r"\1", markdown)
    names = "|".join(map(re.escape, OUTSIDE))
    return re.sub(rf"\]\(\.\./((?:\.\./)*)({names})", r"](\1\2", markdown)
