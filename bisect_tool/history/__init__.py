"""From two builds to the commits between them: where they come from, what they say of themselves, which ones matter.

`source` is the seam; `clone` and `github` stand behind it. `revisions` finds the commit of a build, `listing` makes the
list of a range, `suspects` ranks it. `docs/history.md` says what each step can and cannot know.
"""
