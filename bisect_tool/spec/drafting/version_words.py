"""The words by which a sentence tells which builds work and which fail."""

from __future__ import annotations

import re

VERSION = (
    r"\d{1,4}\.\d{1,3}(?:\.\d{1,3})?(?:\.?(?:dev|rc|post|a|b)\d{1,12}|rc)?"
    r"(?:\+[a-z0-9.]{1,20}|-(?:cu\d{2,3}|cpu|rocm[\d.]{1,5}))?"
)
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
    r"|(?<!\s)\s+(?:but|while|whereas|however|yet|though|although)\s+"
    r"|(?<!\s)\s+and\s+(?=(?:it\s+)?(?:fails?|breaks?|works?|broken|crashes|is|stopped))"
    r"|(?<!\s)\s+and\s+(?=not\s+(?:in|on|with)\b)",
    re.IGNORECASE,
)
LISTED = re.compile(r"\b(?:and|or|also|with|on|in)\b", re.IGNORECASE)
GOOD = re.compile(
    r"\b(?:work(?:s|ed|ing)?|good|as expected|(?:the )?expected (?:result|output|behaviou?r|value)s?|pass(?:es|ed|ing)?|"
    r"fine|correct(?:ly)?|right|ok(?:ay)?|unaffected|succeed\w*|gone|fixed|"
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
    r"(?:not|n't|n’t|no longer|never|without)\s+(?:\w+\s+){0,2}"
    r"(?:fail\w*|crash\w*|error\w*|broke\w*|breaks?|reproduc\w*|affected|happen\w*|hang\w*)|no (?:error|crash)",
    re.IGNORECASE,
)
# "V and earlier" in a report of a regression: those that do not have it.
EARLIER = re.compile(
    r"^[\s.x]{0,3}(?:\(?\s*(?:and|or)\s+)(?:all\s+)?(?:earlier|below|before|older|prior|previous|lower)\b",
    re.IGNORECASE,
)
ANNOTATION = re.compile(r"^[\W_]{0,3}(?:\w+\s+){0,2}\w+[\W_]{0,3}$")  # what may stand in brackets behind a version
ANAPHOR = re.compile(r"^(?:then\s+)?(?:it|this|that|everything|all|the\s+\w+|things)\b", re.IGNORECASE)
OPPOSITE = re.compile(r"^(?:but\s+)?not\b(?=\s+(?:[a-z]+\s+){0,3}v?\d)", re.IGNORECASE)
SINCE = re.compile(rf"\b(?:in|after|since|to|with|on|from|version)\s+v?{VERSION}|^\W*v?{VERSION}\s", re.IGNORECASE)
LATTER = re.compile(r"\b(?:latter|second|newer|last)\b", re.IGNORECASE)
THAN = re.compile(
    rf"\b(?:compared\s+(?:to|with)|(?:slower|worse|larger|higher|more\s+\w+)\s+(?:\w+\s+){{0,2}}than|"
    rf"relative\s+to|unlike)\s+(?:\w+\s+){{0,2}}v?(?P<a>{VERSION})",
    re.IGNORECASE,
)
BACKWARDS = re.compile(
    rf"\bto\s+(?:\w+\s+){{0,2}}v?(?P<b>{VERSION})\s+from\s+(?:\w+\s+){{0,2}}v?(?P<a>{VERSION})", re.IGNORECASE
)
SLOWED = re.compile(r"\b(?:slow\w*|regress\w*|longer)\b", re.IGNORECASE)
NO_LONGER = re.compile(
    r"\b(?:regress\w*|any\s?more|no longer|used to|broke\w*|breaks|since (?:the )?(?:upgrade|updat\w+)|previous(?:ly)?"
    r"|new(?:er)? version|chang\w+)\b",
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
# The words of headings above a line that is only a version, or two of them.
OF_A_FORM = frozenset(
    {"version", "versions", "and", "information", "info", "system", "used", "python", "numpy", "scipy"}
)
OTHERS_OF_A_FORM = frozenset({"python", "numpy", "scipy"})
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
