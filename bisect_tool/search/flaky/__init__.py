"""Failures that come and go: where their rate changes, with both rates unknown. Pure, like the rest of the search.

`docs/flaky.md` explains the method and has the measured figures.
"""
