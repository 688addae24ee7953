"""Plots and tables of a page, drawn with nothing but HTML and SVG.

Sheet -> table with bars; counts -> histogram
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from jobs.display.markup import el
from jobs.display.summary_tables import Sheet, percent, whole

STYLE = """
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 400; }
thead th { color: var(--faint); white-space: nowrap; }
.name, th[scope=row] { overflow-wrap: break-word; max-width: 40rem; }
.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { width: 30%; min-width: 2.5rem; vertical-align: middle; }
.bar span { display: block; height: .7rem; min-width: 1px; background: var(--ink); border-radius: 2px; }
.wide { overflow-x: auto; }
@media (max-width: 40rem) {
  th, td { font-size: .85rem; padding-right: .4rem; }
  thead th { white-space: normal; }
  .name, th[scope=row] { max-width: 9rem; }
  .many .bar, .many thead td { display: none; }
  .many th, .many td { font-size: .8rem; padding-right: .3rem; }
}
svg { display: block; width: 100%; height: auto; }
svg rect { fill: var(--ink); }
svg line { stroke: var(--line); }
svg text { fill: var(--faint); font: 11px system-ui, sans-serif; }
"""

_FIT_BESIDE_BARS = 2  # columns of figures on a phone of 375 pixels

_WIDTH, _HEIGHT, _TOP, _BOTTOM = 360, 150, 16, 30  # units are pixels on a phone


def table(sheet: Sheet) -> Element:
    """Return a sheet as a table that scrolls sideways where the screen is narrow, its bars in a last column."""
    head = [el("th", name, scope="col", class_=_kind(number, sheet)) for number, name in enumerate(sheet.head)]
    if sheet.bars:
        head.append(el("td", aria_hidden="true"))
    rows = [_row(sheet, number) for number in range(len(sheet.rows))]
    drawn = el("table", el("thead", el("tr", *head)), el("tbody", *rows))
    kind = "wide many" if len(sheet.head) - sheet.named > _FIT_BESIDE_BARS else "wide"
    return el("div", drawn, class_=kind, tabindex=0, role="region", aria_label=sheet.head[0])


def histogram(counts: Sequence[int], *, ticks: Sequence[str], labels: Sequence[str], title: str, axis: str) -> Element:
    """Return a plot with one column a count, its height in proportion; a count that is not 0 can be seen.

    Args:
        counts: of each bin.
        ticks: what stands below each column, empty for nothing.
        labels: what each bin holds, told by the column under the mouse.
        title: what the plot shows, for those who cannot see it too.
        axis: what the ticks mean.
    """
    step, ground, total = _WIDTH / len(counts), _HEIGHT - _BOTTOM, sum(counts)
    most = max(counts)
    parts = [
        el("title", title),
        el("text", whole(most), x=0, y=_TOP - 5),
        el("line", x1=0, x2=_WIDTH, y1=_TOP, y2=_TOP),
        el("line", x1=0, x2=_WIDTH, y1=ground, y2=ground),
        el("text", axis, x=_WIDTH / 2, y=_HEIGHT - 3, text_anchor="middle"),
    ]
    for number, count in enumerate(counts):
        middle = round((number + 0.5) * step, 2)
        if count:
            height = round(max(1.0, (ground - _TOP) * count / most), 2)
            place = {"x": round(number * step + step * 0.08, 2), "y": round(ground - height, 2)}
            told = el("title", f"{labels[number]}: {whole(count)} ({percent(count / total)})")
            parts.append(el("rect", told, width=round(step * 0.84, 2), height=height, rx=1, **place))
        if ticks[number]:
            parts.append(el("text", ticks[number], x=middle, y=ground + 13, text_anchor="middle"))
    return el("svg", *parts, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=title)


def _row(sheet: Sheet, number: int) -> Element:
    cells = [
        el("td", cell, class_=_kind(column, sheet)) if column else el("th", cell, scope="row")
        for column, cell in enumerate(sheet.rows[number])
    ]
    if sheet.bars:
        bar = el("span", style=f"width: {100 * sheet.bars[number]:.2f}%")
        cells.append(el("td", *([bar] if sheet.bars[number] else []), class_="bar", aria_hidden="true"))
    return el("tr", *cells)


def _kind(column: int, sheet: Sheet) -> str:
    return "name" if column < sheet.named else "figure"
