"""temporary"""

SUFFIX = ".txt"


def render(report):
    return "\n".join(report.summary)


render_rich = render
