"""From the text of a bug report to a spec: rules, no guessing in secret, nothing of the user's code is run.

The way of a report: `report` (clean text) → `blocks` (where code stands) → `code` (which of it is the repro) → what the
text says of builds (`said`), of the failure (`expected`) and of the surroundings → `cases` and the changes that the code
needs → `draft` (a value; each field knows where it came from) → `files` (text). Everything here is pure; files and
addresses are read by `bisect_tool.runs.report_source`. `docs/init.md` explains the rules, `rules` lists them.
"""
