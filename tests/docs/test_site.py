"""The site has every page, and no page of it links to what it has not: MkDocs refuses such a site."""

from __future__ import annotations

import os
import re

import pytest

from docs.generator.site import OUTSIDE, within_the_site
from pages import ROOT, read

DOCS = ROOT / "docs"
SITE = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


@pytest.mark.parametrize("page", [*SITE, *OUTSIDE])
def test_links_stay_within_the_site(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", read(page if page in OUTSIDE else f"docs/{page}"), flags=re.M | re.S)
    for link in LINK.findall(within_the_site(text, page)):
        target = os.path.normpath(os.path.join(os.path.dirname(page), link))
        assert target in OUTSIDE or (DOCS / target).is_file(), f"{page} links to {link}"


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r"[\w/-]+\.md", read("mkdocs.yml").partition("nav:")[2]))
    assert named == {*SITE, *OUTSIDE}
