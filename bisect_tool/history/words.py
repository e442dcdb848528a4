"""The words of code and prose: identifiers whole and in pieces, without those that every program and message has. Pure."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from functools import lru_cache

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+[a-z]+")
_STRIPPED = re.compile(r"(?m)^\s*#.*$")
_SHORTEST = 3
_LONGEST = 60

# English, and what reviews and tests are made of. What is common in one project only is told by its range (`suspects`).
_COMMON = frozenset(
    """
about above according actual add added adding additional after again against all allow allowed already also always and
another any anything api are args argument arguments arr assert attribute attributes author authored back base because
been before behavior behaviour being between body both branch bug bugfix but bump call called calls can cannot case
cases cause caused change changed changes check class clean cleanup close closes code com comment commit commits
config could current data debug def description dest diff differential dir does doesn doing don done each either else
end ensure equal error errors even example exception exist expect expected explicitly fail failed failing fails
failure feature file files first fix fixed fixes fixing following for found from function functions get gets getting
github give given got had handle handling has have help here hint how http https implement implementation import
improve input inputs into issue issues its itself just key keep kwargs left let like line local logic longer lower
main make makes making many master may merge message method methods might minor missing model module more move must
name names need needed needs new none not now num number object old one only op option options ops org other otherwise
out output over own package param parameter parameters part pass passed passes passing path per please point possible
pr previous previously print problem progress properly pull put python pytorch raise raised raises range rather ready
recent ref refactor reference related release remove removed removes repo report request require required resolve
resolved result results return returned returns review reviewed rev right run running runs same see self sets setting
should show side signed simple since skip some something source src standard start state still such summary support
supported sure take tensor tensors test tested testing tests than that the their them then there therefore these they
thing this those though through time torch track true try two type types under unit until update updated updates upper
url use used useful user users uses using utils val valid value values variable version via wait want was way well
were what when where whether which while who why will with within without work working works would wrong xfail yield
you your
""".split()  # noqa: SIM905  four hundred quoted words are harder to read
)
_LEFT_OUT = _COMMON | {word.lower() for word in (*keyword.kwlist, *keyword.softkwlist, *dir(builtins))}


def words_of(text: str) -> frozenset[str]:
    """The telling words of a text, in small letters: `cumsum`, `diagonal_scatter`, and its pieces `diagonal`, `scatter`."""
    return frozenset(word for name in _IDENTIFIER.findall(text) for word in _words_of_name(name))


def words_of_code(text: str) -> frozenset[str]:
    """As `words_of`, without what stands in comments of whole lines."""
    return words_of(_STRIPPED.sub("", text))


def words_of_paths(paths: Iterable[str]) -> frozenset[str]:
    """The words in file names and folders, without the ending."""
    return frozenset(word for path in paths for word in words_of(re.sub(r"\.\w+$", "", path).replace("/", " ")))


@lru_cache(maxsize=100_000)  # a history names the same things over and over
def _words_of_name(name: str) -> tuple[str, ...]:
    found = {name.strip("_").lower(), *(piece.lower() for piece in _PIECE.findall(name))}
    return tuple(word for word in found if _SHORTEST <= len(word) <= _LONGEST and word not in _LEFT_OUT)
