import xml.etree.ElementTree as ET

from jobs.display.charts import histogram, table
from jobs.display.summary_tables import Sheet


def drawn(counts):
    names = [f"bin {n}" for n in range(len(counts))]
    svg = histogram(counts, ticks=["t", *[""] * (len(counts) - 1)], labels=names, title="what it shows", axis="size")
    return svg, [rect for rect in svg if rect.tag == "rect"]


def test_columns_are_as_high_as_their_counts_and_stand_on_the_same_ground():
    svg, columns = drawn([10, 5, 0, 1])
    heights = [float(rect.get("height")) for rect in columns]
    assert heights[1] / heights[0] == 0.5
    assert len(columns) == 3  # an empty bin has none
    assert len({round(float(rect.get("y")) + float(rect.get("height")), 6) for rect in columns}) == 1
    assert [rect.find("title").text for rect in columns] == [
        "bin 0: 10 (62.5 %)",
        "bin 1: 5 (31.2 %)",
        "bin 3: 1 (6.2 %)",
    ]
    width = float(svg.get("viewBox").split()[2])
    assert all(0 <= float(rect.get("x")) < width for rect in columns)


def test_one_among_a_billion_can_be_seen():
    assert float(drawn([10**9, 1])[1][1].get("height")) == 1


def test_who_cannot_see_the_plot_is_told_what_it_shows():
    svg, _ = drawn([1])
    assert (svg.get("role"), svg.get("aria-label"), svg.find("title").text) == ("img", "what it shows", "what it shows")
    assert {"1", "size", "t"} <= {text.text for text in svg.iter("text")}


def test_a_table_has_names_figures_and_a_bar_a_row():
    sheet = Sheet(("Rows", "number"), [("read", "2"), ("<b>", "0")], bars=[0.5, 0])
    region = table(sheet)
    cells = [[(cell.tag, "".join(cell.itertext())) for cell in row] for row in region.iter("tr")]
    assert cells[0][:2] == [("th", "Rows"), ("th", "number")]
    assert cells[1][:2] == [("th", "read"), ("td", "2")]
    assert [bar.get("style") for bar in region.iter("span")] == ["width: 50.00%"]  # none of nothing
    assert "&lt;b&gt;" in ET.tostring(region, encoding="unicode")
    assert region.get("aria-label") == "Rows"


def test_a_table_without_bars_has_no_column_for_them():
    assert [len(list(row)) for row in table(Sheet(("a", "b"), [("1", "2")])).iter("tr")] == [2, 2]
