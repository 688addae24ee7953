"""``report.html``: one page that tells a person how a run went, without network or script.

Findings -> dataset_page -> HTML
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from jobs.display.bins import score_bins, size_bins
from jobs.display.charts import STYLE as PLOT_STYLE
from jobs.display.charts import histogram, table
from jobs.display.markup import document, el
from jobs.display.option_names import option_rows
from jobs.display.summary_tables import FIVE, NAMES, Sheet, flat, other_counts, percent, sheets, shown, speed, whole
from schemas.quantities import counted

if TYPE_CHECKING:
    from pipelines.summary.histogram import Distribution
    from pipelines.summary.run_summary import Findings

STYLE = """
:root { --ink: #2563a8; --text: #1c1f23; --paper: #fff; --faint: #5d6570; --line: #d9dde2; --bad: #a4161a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #6ea8e6; --text: #e6e8eb; --paper: #16181c; --faint: #a2abb6; --line: #363b43; --bad: #ff8b85; }
}
* { box-sizing: border-box; }
body { font: 16px/1.45 system-ui, sans-serif; color: var(--text); background: var(--paper);
       max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; overflow-wrap: anywhere; }
p, ul { margin: .3rem 0; } ul { padding: 0 1.2rem; } li { overflow-wrap: anywhere; }
.faint { color: var(--faint); font-size: .9rem; } .bad { color: var(--bad); font-weight: 600; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.5rem; }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; } summary { cursor: pointer; color: var(--faint); }
"""

SHOWN_INPUTS = 100
SHOWN_CHARACTERS = 300
SHOWN_QUESTIONS = 5


def dataset_page(findings: Findings) -> bytes:
    """Return the page of a run, UTF-8; whatever a question or an answer holds is shown as text."""
    configuration = findings.configuration
    five = {name: found.five() for name, found in findings.overview.distributions.items()}
    summed_up = sheets(findings.counters, five, configuration)
    body = [
        *_head(findings),
        *_rejects(findings),
        *(part for sheet in summed_up for part in (el("h2", sheet.head[0]), table(sheet), *_note(sheet.note))),
        el("h2", "How large and how coherent"),
        *_plots(findings.overview.distributions),
        el("h2", "The largest clusters"),
        *_clusters(findings.overview.largest),
        el("h2", "The least coherent clusters"),
        el("p", "By idf coherence, the lowest first.", class_="faint"),
        *_clusters(findings.overview.least_coherent),
        el("h2", "Leakage"),
        *_leakage(findings.leakage),
        el("h2", "More"),
        _folded("Other counts", table(other_counts(findings.counters))),
        _folded("Configuration", table(Sheet(("Option", "value"), option_rows(configuration), named=2))),
        _folded("Inputs", *_inputs(findings)),
    ]
    return document(f"Dataset {findings.url}", STYLE + PLOT_STYLE, el("main", *body))


def _head(findings: Findings) -> Iterator[Element]:
    rows = findings.counters.get("rows_read", 0)
    yield el("h1", f"Dataset {findings.url}")
    yield el("p", f"Run {findings.run_id}: {counted(rows, 'row')}, {speed(rows, findings.seconds)}", class_="faint")
    if findings.fault:
        yield el("p", f"This run was not published: {findings.fault}.", class_="bad", role="alert")
    for warning in findings.warnings:
        yield el("p", f"Warning: {warning}.", class_="bad", role="status")


def _rejects(findings: Findings) -> Iterator[Element]:
    """Yield examples of every reason, in sight where nothing was published and folded elsewhere."""
    if not findings.rejects:
        return
    yield el("h2", "Examples of what was rejected")
    for found in findings.rejects:
        title = f"{found.stage}, {found.reason.replace('_', ' ')}: {whole(found.number)}"
        items = [el("li", _cut(text), dir="auto") for text in found.texts]
        yield _folded(title, el("ul", *items), in_sight=bool(findings.fault))


def _folded(title: str, *children: Element, in_sight: bool = False) -> Element:
    """Return a part that is shown when its title is clicked, or at once."""
    attributes: dict[str, str] = {"open": ""} if in_sight else {}
    return el("details", el("summary", title), *children, **attributes)


def _note(text: str) -> list[Element]:
    return [el("p", text, class_="faint")] if text else []


def _plots(distributions: Mapping[str, Distribution]) -> Iterator[Element]:
    figures = [_figure(name, found) for name, found in distributions.items()]
    yield el("div", *figures, class_="plots") if figures else el("p", "There is no cluster.")


def _figure(name: str, found: Distribution) -> Element:
    bins = size_bins(round(found.quantile(0)), round(found.quantile(1))) if name == "size" else score_bins()
    counts = found.bins(bins.edges)
    called = NAMES.get(name, name.replace("_", " "))
    five = ", ".join(f"{FIVE[quantile]} {shown(value, name)}" for quantile, value in found.five().items())
    axis = "questions, up to" if name == "size" else called
    title = f"Clusters by {called}: {five}"
    plot = histogram(counts, ticks=bins.ticks, labels=bins.labels, title=title, axis=axis)
    binned = zip(bins.labels, counts, strict=True)
    rows = [(label, whole(n), percent(n / found.total)) for label, n in binned if n]
    numbers = table(Sheet((called, "clusters", "share"), rows))
    caption = el("figcaption", f"Clusters by {called}")
    return el("figure", caption, plot, el("p", five, class_="faint"), _folded("Numbers", numbers))


def _clusters(clusters: Sequence[Mapping[str, Any]]) -> Iterator[Element]:
    if not clusters:
        yield el("p", "There is no cluster.")
    for cluster in clusters:
        answer = "(no answer)" if cluster["answer"] is None else _cut(cluster["answer"])
        scores = [f"{NAMES.get(n, n.replace('_', ' '))} {v:.3f}" for n, v in cluster.items() if isinstance(v, float)]
        facts = [cluster["split"], counted(cluster["size"], "question"), counted(cluster["events"], "event"), *scores]
        told = el("p", ", ".join(facts), class_="faint")
        yield el("section", el("h3", el("bdi", answer)), told, *_questions(cluster["texts"], cluster["size"]))


def _questions(texts: Sequence[str], size: int) -> Iterator[Element]:
    items = [el("li", _cut(text), dir="auto") for text in texts]
    if size > len(texts):
        items.append(el("li", f"and {whole(size - len(texts))} more", class_="faint"))
    yield el("ul", *items[:SHOWN_QUESTIONS])
    if more := items[SHOWN_QUESTIONS:]:
        yield _folded("More questions", el("ul", *more))


def _leakage(leakage: Mapping[str, Any]) -> Iterator[Element]:
    check = leakage.get("check", {})
    compared = sum(n for name, n in check.get("compared", {}).items() if name != "pairs_of_sets")
    of = counted(compared, "written question")
    told = f"Of {of}, compared once more, {whole(check.get('found', 0))} found in two splits."
    yield el("p", told if check else "Nothing was compared.")
    if leakage:
        lines = [(name.replace("_", " ").replace(".", ", "), value) for name, value in flat(leakage) if value != "0"]
        yield _folded("What was compared, found and removed", table(Sheet(("What", "value"), lines, named=2)))


def _inputs(findings: Findings) -> Iterator[Element]:
    rows = [(i.url, "" if i.bytes is None else whole(i.bytes)) for i in findings.inputs[:SHOWN_INPUTS]]
    yield table(Sheet(("File", "bytes"), rows))
    if hidden := len(findings.inputs) - len(rows):
        yield el("p", f"and {whole(hidden)} more, all of them in manifest.json", class_="faint")


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}… ({counted(len(text), 'character')})"
