"""Names cannot break out of a report, and its files are its owner's."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hostile import NASTY, nasty_loop, no_umask, others_may
from loop_fakes import a_loop
from penstock.report.folder import ReportFolder
from penstock.report.html_page import html_page
from penstock.report.story import Story
from penstock.stores.sql import SqlStore


def test_a_report_with_a_nasty_name_has_only_its_own_scripts(tmp_path: Path, story: Story) -> None:
    url = f"sqlite:///{tmp_path / 'penstock.db'}"
    store = SqlStore(url, NASTY)
    nasty_loop(store=store).run_once()
    store.close()
    page = html_page(url, story)
    assert NASTY not in page
    assert page.count("<script>") == page.count("</script>") == 3
    (data,) = re.findall(r"const DATA = (.*);\n", page)
    assert NASTY in json.loads(data)["jobs"]["jobs"][0]["name"]  # the page shows it as text


def test_a_report_is_its_owners(tmp_path: Path, story: Story) -> None:
    folder, loop = ReportFolder(tmp_path), a_loop()
    with no_umask():
        with folder.decisions() as file, folder.history("clicks", loop.description()) as keep:
            file.write("{}\n")
            keep(loop.run_once())
        folder.write(story)
    assert {path.name for path in tmp_path.iterdir()} >= {"decisions.jsonl", "history.db", "report.html", "result.json"}
    assert not any(others_may(path) for path in tmp_path.iterdir())
