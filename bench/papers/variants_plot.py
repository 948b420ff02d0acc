"""Curves as SVG: the share of sets that fit over the threshold of their least utilisation."""
from html import escape

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"]
WIDTH, HEIGHT, LEFT, TOP = 420, 260, 46, 34


def _panel(left, title, curves, rows):
    most = rows[-1]["threshold"]

    def place(threshold, share):
        return f"{left + LEFT + (WIDTH - LEFT - 10) * threshold / most:.1f},{TOP + HEIGHT * (1 - share):.1f}"

    parts = [f'<text x="{left + LEFT}" y="18" font-weight="bold">{escape(title)}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = TOP + HEIGHT * (1 - share)
        parts.append(f'<path d="M{place(0, share)}L{place(most, share)}" stroke="#ddd"/>'
                     f'<text x="{left + LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>')
    for threshold in [most * i / 4 for i in range(5)]:
        x = place(threshold, 0).split(",")[0]
        parts.append(f'<text x="{x}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{threshold:g}</text>')
    for i, name in enumerate(curves):
        line = "L".join(place(row["threshold"], row["fitting"][i] / row["sets"]) for row in rows)
        parts.append(f'<path d="M{line}" fill="none" stroke="{COLOURS[i]}" stroke-width="2"/>'
                     f'<text x="{left + LEFT + 8}" y="{TOP + HEIGHT + 36 + 15 * i}" fill="{COLOURS[i]}">'
                     f"{escape(name)}</text>")
    return "".join(parts)


def svg(scenarios, points):
    """A panel for each scenario: its curves by name, and its rows."""
    panels = [_panel(i * (WIDTH + 20), name, curves, rows)
              for i, ((name, curves), rows) in enumerate(zip(scenarios.items(), points))]
    width = len(panels) * (WIDTH + 20)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 120}" '
            f'font-family="sans-serif" font-size="12">{"".join(panels)}</svg>\n')
