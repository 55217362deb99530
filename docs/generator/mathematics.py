"""The page of the equations: what each module of `performance` computes, under the papers' names for it."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from docs.generator.markdown import code, page, prose, table
from penstock import performance

PACKAGE = performance.__name__


def mathematics_page() -> str:
    found = walk_packages(performance.__path__, f"{PACKAGE}.")
    names = sorted(module.name.removeprefix(f"{PACKAGE}.") for module in found if not module.ispkg)
    return page(
        "Mathematics",
        'What the policies compute with. A number in parentheses, or beside "equation", is the paper\'s own.',
        *(_one(name, import_module(f"{PACKAGE}.{name}")) for name in names),
    )


def mathematics_of(policy: type) -> list[str]:
    """The modules of `performance` that a policy imports from: itself, its parents, and the helpers beside it."""
    waiting = [each.__module__ for each in policy.__mro__]
    found: set[str] = set()
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or not name.startswith("penstock.policies"):
            continue
        seen.add(name)
        used = {str(getattr(value, "__module__", "")) for value in vars(sys.modules[name]).values()}
        found |= {module.rpartition(".")[2] for module in used if module.startswith(f"{PACKAGE}.")}
        waiting += used
    return sorted(found)


def _one(name: str, module: ModuleType) -> str:
    own = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    public = [value for value in own if not value.__name__.startswith("_") and value.__doc__]
    rows = [[code(value.__name__), inspect.cleandoc(value.__doc__).partition("\n")[0]] for value in public]
    link = f"src/penstock/performance/{name.replace('.', '/')}.py"
    return "\n\n".join((
        f"## {name.rpartition('.')[2]}",
        prose(module.__doc__),
        table(["name", "what it gives"], rows),
        f"Code: [{link}](../../{link})",
    ))  # fmt: skip
