"""YAML text as a tree that remembers its lines; only the part of YAML that a spec needs.

Every plain scalar stays the text that was written (`2.10` is not 2.1), but for null. Refused are tags, duplicate keys,
merge keys, several documents, and whatever would grow: deep nesting and aliases that expand to too much. The events come
from PyYAML (its C parser where there is one); the tree is built here, because a constructor knows neither lines nor limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NoReturn

import yaml

from bisect_tool.spec.mistake import Location, Mistake, quoted
from bisect_tool.spec.syntax import syntax_mistake

MAX_NODES = 10_000
MAX_DEPTH = 50

_NULLS = {"", "~", "null", "Null", "NULL"}
_NOT_IN_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
_BOM = b"\xef\xbb\xbf"
_CORE_TAG = "tag:yaml.org,2002:"

Value = None | str | list["Node"] | dict[str, "Node"]


@dataclass(frozen=True, slots=True)
class Node:
    """A value with the line (from 1) of its key, or its own in a list; `size` and `height` count aliases as expanded."""

    line: int
    value: Value
    size: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, and the mistakes that did not keep it from being read."""

    root: Node
    mistakes: tuple[Mistake, ...] = ()

    def line_of(self, at: Location) -> int:
        """The line of the innermost part of `at` that the file has."""
        node = self.root
        for part in at:
            match node.value, part:
                case dict() as entries, str() if part in entries:
                    node = entries[part]
                case list() as items, int() if part < len(items):
                    node = items[part]
                case _:
                    break
        return node.line


class UnreadableError(Exception):
    """The text is not a spec at all; carries its one `mistake`."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(str(mistake))
        self.mistake = mistake


def parse_document(content: bytes) -> Document:
    """The tree of a YAML file.

    Raises:
        UnreadableError: not UTF-8, not YAML, empty, several documents, not a mapping, or too big once expanded.
    """
    text = _decoded(content)
    builder = _Builder(text)
    try:
        root = builder.document()
    except yaml.YAMLError as error:
        raise UnreadableError(syntax_mistake(error, text)) from error
    if not isinstance(root.value, dict):
        found = "nothing" if root.value is None else "a list" if isinstance(root.value, list) else quoted(root.value)
        raise UnreadableError(Mistake(found, "keys with values at the top, such as `name: my-bug`", line=root.line))
    return Document(root, tuple(builder.mistakes))


def plain(node: Node) -> object:
    """The value without its lines: None, str, list and dict."""
    match node.value:
        case list() as items:
            return [plain(item) for item in items]
        case dict() as entries:
            return {key: plain(entry) for key, entry in entries.items()}
        case scalar:
            return scalar


def _decoded(content: bytes) -> str:
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise UnreadableError(Mistake("a NUL byte", "text", line=line))
    try:
        text = content.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        position = error.start + len(content) - len(content.removeprefix(_BOM))
        line = content.count(b"\n", 0, position) + 1
        found = f"byte 0x{content[position]:02x} at offset {position}, which is not UTF-8"
        raise UnreadableError(Mistake(found, "a file saved as UTF-8", line=line)) from error
    if odd := _NOT_IN_YAML.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        raise UnreadableError(Mistake(f"the character {quoted(odd.group())}", "printable text", line=line))
    return text


@dataclass(slots=True)
class _Builder:
    """Builds the tree from the parser's events."""

    text: str
    mistakes: list[Mistake] = field(default_factory=list)
    anchors: dict[str, Node | None] = field(default_factory=dict)  # None while the anchored value is still being read
    nodes: int = 0
    events: Iterator[yaml.Event] = field(init=False)

    def __post_init__(self) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self.events = iter(yaml.parse(self.text, Loader=loader))

    def document(self) -> Node:
        next(self.events)
        if isinstance(next(self.events), yaml.StreamEndEvent):
            raise UnreadableError(Mistake("an empty file", "a spec: at least `name:` and `script:`"))
        root = self.node(next(self.events), ())
        next(self.events)
        if not isinstance(more := next(self.events), yaml.StreamEndEvent):
            raise UnreadableError(Mistake("a second document", "one spec in each file", line=_line(more)))
        return root

    def node(self, event: yaml.Event, at: Location) -> Node:
        """The node that begins with `event`, at `at`."""
        if len(at) >= MAX_DEPTH:
            self.stop(event, at[:1], f"values nested more than {MAX_DEPTH} deep", "a flat spec")
        if isinstance(event, yaml.AliasEvent):
            return self.counted(event, at, self.aliased(event, at))
        assert isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent))
        if event.tag is not None:
            self.note(event, at, f"the tag {quoted(_shown_tag(event.tag))}", "a value without a tag")
        anchor = event.anchor
        if anchor is not None:
            self.anchors[anchor] = None
        node = self.counted(event, at, self.fresh(event, at))
        if anchor is not None:
            self.anchors[anchor] = node
        return node

    def fresh(self, event: yaml.Event, at: Location) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event, at)
        children: list[Node] = []
        value: Value
        if isinstance(event, yaml.SequenceStartEvent):
            value = children
            while not isinstance(following := next(self.events), yaml.SequenceEndEvent):
                children.append(self.node(following, (*at, len(children))))
        else:
            value = self.entries(at)
            children.extend(value.values())
        height = 1 + max((child.height for child in children), default=0)
        return Node(_line(event), value, 1 + sum(child.size for child in children), height)

    def entries(self, at: Location) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.key(event, at)
            line = _line(event)
            node = self.node(next(self.events), (*at, "?" if key is None else key))
            if key is None:
                continue
            if key in entries:
                self.note(
                    event, (*at, key), f"the key a second time (first on line {entries[key].line})", "each key once"
                )
            elif key == "<<":
                self.note(event, (*at, key), "a merge key", "the keys themselves; copy them here")
            else:
                entries[key] = replace(node, line=line)
        return entries

    def key(self, event: yaml.Event, at: Location) -> str | None:
        node = self.node(event, (*at, "?"))
        if isinstance(event, yaml.ScalarEvent):
            return str(event.value)
        if isinstance(node.value, str):
            return node.value
        self.note(event, at, "a key that is not a word", "keys that are words")
        return None

    def scalar(self, event: yaml.ScalarEvent, at: Location) -> Node:
        if odd := _NOT_TEXT.search(event.value):
            self.stop(event, at, f"the character {quoted(odd.group())}", "text")
        is_null = event.implicit[0] and event.value in _NULLS
        return Node(_line(event), None if is_null else event.value)

    def aliased(self, event: yaml.AliasEvent, at: Location) -> Node:
        name = event.anchor
        if name not in self.anchors:
            self.stop(event, at, f"`*{name}`", f"an anchor `&{name}` further up")
        node = self.anchors[name]
        if node is None:
            self.stop(
                event, at, f"`*{name}` inside the value that it stands for", "a value that does not contain itself"
            )
        if len(at) + node.height > MAX_DEPTH:
            self.stop(event, at[:1], f"values nested more than {MAX_DEPTH} deep", "a flat spec")
        return replace(node, line=_line(event))

    def counted(self, event: yaml.Event, at: Location, node: Node) -> Node:
        self.nodes += node.size if isinstance(event, yaml.AliasEvent) else 1
        if self.nodes > MAX_NODES:
            self.stop(event, at[:1], f"more than {MAX_NODES} values once aliases are expanded", "a short spec")
        return node

    def note(self, event: yaml.Event, at: Location, found: str, expected: str) -> None:
        self.mistakes.append(Mistake(found, expected, at, line=_line(event)))

    def stop(self, event: yaml.Event, at: Location, found: str, expected: str) -> NoReturn:
        raise UnreadableError(Mistake(found, expected, at, line=_line(event)))


def _line(event: yaml.Event) -> int:
    return int(event.start_mark.line) + 1 if event.start_mark else 1


def _shown_tag(tag: str) -> str:
    return f"!!{tag.removeprefix(_CORE_TAG)}" if tag.startswith(_CORE_TAG) else tag
