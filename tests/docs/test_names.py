"""Pages name files, and files are where the pages say."""

from __future__ import annotations

import re

import pytest

from pages import PAGES, ROOT, blocks, read

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"`((?:src|tests|docs|benchmarks)/[\w./-]+|[\w-]+(?:/[\w-]+)+\.(?:py|md))`")
_HEADING = re.compile(r"^#+ (.+)$", re.M)


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(text: str) -> set[str]:
    """The headings of a page as a forge spells them in an address."""
    headings = _HEADING.findall(without_code(text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    text = without_code(read(page))
    for link in _LINK.findall(text):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), f"{page} links to {link}, which is not there"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{page} links to {link}, a heading not there"


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    for named in _PATH.findall(without_code(read(page))):
        places = (ROOT / named, ROOT / "src/penstock" / named)
        assert any(place.exists() for place in places), f"{page} names {named}, which is not there"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = _LINK.findall(read("docs/README.md"))
    reached = {(ROOT / "docs" / link).resolve().relative_to(ROOT.resolve()).as_posix() for link in index}
    assert [page for page in PAGES if page.startswith("docs/") and page not in reached] == ["docs/README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_a_console_block_begins_with_a_command(page: str) -> None:
    for block in blocks(read(page)):
        if block.kind == "console":
            assert block.text.startswith("$ ")


def test_every_page_is_on_the_site_and_the_site_has_no_other() -> None:
    listed = re.findall(r"^ +- [^:]+: (\S+\.md)$", read("mkdocs.yml").partition("nav:")[2], re.M)
    pages = [page.removeprefix("docs/") for page in PAGES if page != "README.md"]
    assert sorted(listed) == sorted(pages)
