"""Words and tables as Markdown, and docstrings as words and tables."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields
from typing import Any

MADE = "<!-- Made from the code by `make docs`: edit the docstrings, not this page. -->"

_TERM = re.compile(r"(\S+(?:, \S+)*|\w+[ -]\w+) {2,}(\S.*)")


def page(title: str, *parts: str) -> str:
    return "\n\n".join((f"# {title}", MADE, *(part for part in parts if part))) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """
    >>> print(table(["name", "meaning"], [["td", "an interval"]]))
    | name | meaning |
    | --- | --- |
    | td | an interval |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(value: object) -> str:
    return f"`{value}`"


def prose(docstring: str | None) -> str:
    """A docstring for readers: glossaries become lists, examples become code.

    >>> print(prose("How long.\\n\\ntd  an interval\\n    of time"))
    How long.
    <BLANKLINE>
    - `td`: an interval of time
    """
    return "\n\n".join(_part(part) for part in _parts(docstring))


def glossary(documented: type) -> dict[str, str]:
    """The meaning of each term that a class's own docstring explains."""
    return {
        term.strip(): meaning
        for part in _parts(documented.__doc__)
        if _is_glossary(part)
        for terms, meaning in _entries(part)
        for term in terms.split(",")
    }


def fields_table(documented: Any, defaults: bool = False) -> str:
    """Every field of a dataclass with its meaning; one that nobody explained is an error."""
    meanings: dict[str, str] = {}
    for kind in reversed(documented.__mro__):
        meanings |= glossary(kind)
    rows = [
        [code(each.name), code(_word(str(each.type))), *([default(each)] if defaults else []), meanings[each.name]]
        for each in fields(documented)
    ]
    return table(["field", "type", *(["default"] if defaults else []), "meaning"], rows)


def default(field: Any) -> str:
    """What holds where nobody says otherwise, in words where it is no value of its own."""
    value = field.default
    if value is MISSING:
        return "required" if field.default_factory is MISSING else "empty"
    if value == ():
        return "empty"
    return "none" if value is None else "no limit" if value == math.inf else code(value)


def _word(annotation: str) -> str:
    """The type as a reader of JSON knows it: nothing of how it is read or frozen."""
    word = re.sub(r"Annotated\[(\w+), [^\]]*\)\]", r"\1", annotation)
    return re.sub(r"tuple\[(.+), \.\.\.\]", r"list[\1]", word).replace("Mapping[", "dict[")


def _parts(docstring: str | None) -> list[str]:
    text = inspect.cleandoc(docstring or "")
    return [inspect.cleandoc(part) for part in re.split(r"\n\s*\n", text) if part.strip()]


def _part(part: str) -> str:
    if part.startswith(">>>"):
        return f"```pycon\n{part}\n```"
    if _is_glossary(part):
        return "\n".join(f"- {code(term)}: {meaning}" for term, meaning in _entries(part))
    return part


def _is_glossary(part: str) -> bool:
    first = part.splitlines()[0]
    return _TERM.fullmatch(first) is not None and not first.startswith("- ")


def _entries(part: str) -> list[tuple[str, str]]:
    entries: list[tuple[str, str]] = []
    for line in part.splitlines():
        match = _TERM.fullmatch(line)
        if match is not None:
            entries.append((match[1], match[2]))
        else:  # a meaning that goes on
            term, meaning = entries[-1]
            entries[-1] = (term, f"{meaning} {line.strip()}")
    return entries
