"""Rules of safety that the source itself keeps: no shell, no pickle, no code out of data, XML and YAML read safely."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.envs.android_tree import _parsed
from pipeline.errors import ConfigError, TreeError
from pipeline.user_files import yaml_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("pipeline", "catalogs", "taskspecs", "verifiers", "bench")

CALLS = frozenset(
    {
        *("eval", "exec", "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
        *("asyncio.create_subprocess_shell", "tempfile.mktemp", "yaml.load", "yaml.full_load", "yaml.unsafe_load"),
    }
)
MODULES = frozenset({"cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve", "xmlrpc", "telnetlib"})
XML = frozenset(
    {
        ("pipeline/envs/android_tree.py", "xml.etree"),
        ("pipeline/handset/tree.py", "xml.sax.saxutils"),
        ("catalogs/markup.py", "lxml.html"),
        ("catalogs/markup.py", "lxml.etree"),
    }
)
"""Who may read or write XML and HTML: the first takes a root element and nothing before it, so no entity is declared;
the second only writes; the third is a reader of HTML, which has no entities of its own."""


ADDRESSES = frozenset({"urljoin", "urlparse", "urlsplit"})
"""Readers that raise for some of what a page may name: `pipeline.addresses` stands before them."""


def findings(source: str, path: str = "") -> Iterator[str]:
    """What breaks a rule, by line."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=function, keywords=keywords):
                if ast.unparse(function) in CALLS:
                    yield f"{node.lineno}: {ast.unparse(function)}"
                if any(word.arg == "shell" and _is_true(word.value) for word in keywords):
                    yield f"{node.lineno}: shell"
            case ast.Import(names=names):
                yield from _imported([name.name for name in names], node.lineno, path)
            case ast.ImportFrom(module="urllib.parse", names=names) if path != "pipeline/addresses.py":
                yield from (f"{node.lineno}: {name.name}" for name in names if name.name in ADDRESSES)
            case ast.ImportFrom(module=str(module)):
                yield from _imported([module], node.lineno, path)


def _imported(modules: list[str], line: int, path: str) -> Iterator[str]:
    for module in modules:
        top = module.partition(".")[0]
        if top in MODULES or (top in ("xml", "lxml") and (path, module) not in XML):
            yield f"{line}: {module}"


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


@pytest.mark.parametrize("package", PACKAGES)
def test_no_source_breaks_a_rule(package: str) -> None:
    paths = [str(path.relative_to(ROOT)) for path in (ROOT / package).rglob("*.py")]

    broken = {path: list(findings((ROOT / path).read_text(encoding="utf-8"), path)) for path in paths}

    assert paths
    assert {path: found for path, found in broken.items() if found} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run('ls', shell=True)",
        "import os\nos.system('ls')",
        "eval(text)",
        "import pickle",
        "from pickle import loads",
        "import xml.etree.ElementTree",
        "from lxml import etree",
        "import yaml\nyaml.load(text, yaml.Loader)",
        "import tempfile\ntempfile.mktemp()",
        "from urllib.parse import quote, urlsplit",
    ],
)
def test_each_rule_can_be_broken(source: str) -> None:
    assert list(findings(source))


def test_no_tree_of_a_phone_declares_entities() -> None:
    bomb = b"""<!DOCTYPE hierarchy [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>
        <hierarchy rotation="0"><node text="%s"/></hierarchy>"""

    for name in (b"&b;", b"&c;"):
        with pytest.raises(TreeError):
            _parsed(bomb % name)


def test_no_yaml_makes_objects() -> None:
    with pytest.raises(ConfigError):
        yaml_of("!!python/object/apply:os.getcwd []", "here")
