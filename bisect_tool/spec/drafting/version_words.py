"""The words by which a sentence tells which builds work and which fail."""

from __future__ import annotations

import re

VERSION = r"\d{1,4}\.\d{1,3}(?:\.\d{1,3})?(?:\.?(?:dev|rc|post|a|b)\d{1,12})?(?:\+[a-z0-9.]{1,20})?"
VERSIONS = re.compile(
    rf"(?<![\w.+-])(?:v(?=\d))?(?P<version>{VERSION})(?![\w+-]|\.\d)"
    r"(?!\s?(?:%|ms\b|GB\b|GiB\b|MB\b|x\b|seconds?\b|s\b|×))",  # a measurement
    re.IGNORECASE,
)
DAY = r"20[12]\d[-/]?(?:0[1-9]|1[0-2])[-/]?(?:0[1-9]|[12]\d|3[01])"
DAYS = re.compile(rf"(?<![\w.])(?:dev)?(?P<day>{DAY})(?![\d-])")
NIGHTLY = re.compile(r"nightl|\bdev\b|\bbuild\b|\bmain\b|dev20", re.IGNORECASE)
CLAUSES = re.compile(
    r"(?<=\S)[;!?()](?=[\s)]|$)|\s\(|,(?=\s)|(?<=[^\s.])\.(?=\s|$)"
    r"|\s+(?:but|while|whereas|however|yet|though|although)\s+"
    r"|\s+and\s+(?=(?:it\s+)?(?:fails?|breaks?|works?|broken|crashes|is|stopped))",
    re.IGNORECASE,
)
LISTED = re.compile(r"\b(?:and|or|also|with|on|in)\b", re.IGNORECASE)
GOOD = re.compile(
    r"\b(?:work(?:s|ed|ing)?|good|pass(?:es|ed|ing)?|fine|correct(?:ly)?|right|ok(?:ay)?|unaffected|succeed\w*|gone|fixed|"
    r"no (?:error|issue|problem|crash)|not (?:affected|reproduc\w+|happen\w*|present)|"
    r"does ?n[o']t (?:happen|reproduce|occur|fail|crash))\b|✅|✓|✔|👍",
    re.IGNORECASE,
)
BAD = re.compile(
    r"\b(?:fail\w*|broke\w*|breaks?|bad|crash\w*|regress\w*|error\w*|wrong|incorrect\w*|hangs?|segfault\w*|slower|"
    r"slow|leaks?|"
    r"no longer works?|not work\w*|(?:does|did) ?n[o']t work|do(?:es)? not work|stopped working|affected|"
    r"reproduc(?:es|ed|ible)|happens|introduced|appeared|started)\b|❌|✗|✘|👎",
    re.IGNORECASE,
)
NOT_WORKING = re.compile(
    r"(?:not|n't|n’t|no longer|stopped)\s+(?:\w+\s+)?(?:work\w*|pass\w*|correct\w*|fine|ok)", re.IGNORECASE
)
NOT_FAILING = re.compile(
    r"(?:not|n't|n’t|no longer|never|without)\s+(?:\w+\s+)?"
    r"(?:fail\w*|crash\w*|error\w*|broke\w*|reproduc\w*|affected|happen\w*|hang\w*)|no (?:error|crash)",
    re.IGNORECASE,
)
PAIR = re.compile(
    rf"\b(?:from|between)\s+(?:\w+\s+){{0,2}}v?(?P<a>{VERSION})\s+(?:to|and|->|→)\s+(?:\w+\s+){{0,2}}v?(?P<b>{VERSION})",
    re.IGNORECASE,
)
ARROW = re.compile(rf"v?(?P<a>{VERSION})\s*(?:->|→|=>)\s*v?(?P<b>{VERSION})", re.IGNORECASE)
UPGRADE = re.compile(
    r"\b(?:upgrad\w+|updat\w+|mov\w+|bump\w*|switch\w*|regress\w*|introduced|broke\w*|chang\w+)\b", re.IGNORECASE
)
FIXED = re.compile(r"\bfixed\b", re.IGNORECASE)
ONLY_NIGHTLY = re.compile(
    r"(?:only|just)\s+(?:\w+\s+){0,3}nightl|nightl\w+\s+only"
    r"|(?:works?|fine|passes|ok|good)\s+(?:\w+\s+){0,3}(?:stable|released?|latest release)",
    re.IGNORECASE,
)
# Words that may stand between a name and its version: `torch version 2.9`, `PyTorch nightly 2.13.0.dev20260520`.
BETWEEN = frozenset(
    ["version", "versions", "v", "ver", "is", "was", "nightly", "release", "build", "wheel", "stable", "and", "or"]
)
# Words before a version that are no product: the version is that of what the report is about.
NEUTRAL = frozenset({
    "a", "about", "after", "again", "also", "any", "around", "as", "at", "back", "bad", "before", "between",
    "both", "broke", "broken", "builds", "by", "current", "did", "downgraded", "downgrading", "e", "even",
    "failed", "fails", "first", "fixed", "for", "from", "g", "good", "here", "in", "installed", "into",
    "introduced", "it", "last", "latest", "least", "main", "newer", "nightlies", "not", "of", "older", "on",
    "only", "regressed", "regression", "released", "releases", "since", "still", "tested", "than", "the",
    "then", "there", "this", "through", "till", "to", "under", "until", "up", "updated", "updating", "upgraded",
    "upgrading", "using", "while", "with", "work", "worked", "working", "works",
})  # fmt: skip
