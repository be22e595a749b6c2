"""The page: plain data in, one HTML file out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from paddable.report.curves import depth, lengths, ranges
from paddable.report.heat import heat, scale
from paddable.report.html import figure, number, scroll, section, sentence, table, text
from paddable.report.shapes import accepted, flow, islands, times

__all__ = ["embedded", "is_page", "page"]

Data = Mapping[str, Any]


def page(data: Data) -> str:
    """The report as one HTML file that needs nothing else.

    Args:
        data: what `paddable.api.reporting` collects; every part but ``title``, ``verdict`` and ``ok`` may be left out.
            ``outcome`` is the word before the verdict where it is neither passed nor not passed.
    """
    titled = {"tables": data.get("tables_title", "Findings")}
    parts = [(name, titled.get(name, title), make(data)) for name, title, make in _PARTS if _there(data, name)]
    parts = [(name, title, body) for name, title, body in parts if body]
    links = "".join(f'<li><a href="#{name}">{text(title)}</a></li>' for name, title, _ in parts)
    facts = "".join(f"<div><dt>{text(k)}</dt><dd>{text(v)}</dd></div>" for k, v in data.get("facts", {}).items())
    made_by = ", ".join(f"{name} {version}" for name, version in data.get("versions", {}).items())
    bad = "" if data["ok"] else " bad"
    style = (files("paddable.report") / "style.css").read_text(encoding="utf-8")
    outcome = data.get("outcome", "Passed" if data["ok"] else "Not passed")
    return (
        f'{_HEAD}<meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(data['title'])}{_NAMED}"
        '<link rel="icon" href="data:,">'
        f"<style>{style}</style></head><body>"
        '<a class="skip" href="#content">Skip to the content</a>'
        f'<header><p class="kicker">Paddable · {text(data.get("command", "report"))}</p><h1>{text(data["title"])}</h1>'
        f'<p class="verdict{bad}"><strong>{outcome}</strong> {text(data["verdict"])}</p>'
        f'<dl class="facts">{facts}</dl><nav aria-label="Sections"><ul>{links}</ul></nav></header>'
        f'<main id="content">{"".join(body for _, _, body in parts)}</main>'
        f"<footer>{text(made_by)}</footer></body></html>\n"
    )


_HEAD = '<!doctype html><html lang="en"><head>'
_NAMED = " · Paddable</title>"


def is_page(path: Path) -> bool:
    """Whether a file is a page of ours, which a new one may replace."""
    try:
        with path.open(encoding="utf-8") as file:
            head = file.read(4096)
    except (OSError, ValueError):  # not a text
        return False
    return head.startswith(_HEAD) and _NAMED in head


def embedded(data: Data) -> str:
    """The report as a notebook shows it: the page in a frame, so that neither's style reaches the other."""
    return (
        f'<iframe title="{text(data["title"])}" srcdoc="{text(page(data))}" '
        'style="width: 100%; height: 40rem; border: 1px solid #8884"></iframe>'
    )


def _there(data: Data, name: str) -> bool:
    return bool(data.get(name))


def _fork(data: Data) -> str:
    fork = data["fork"]
    cause = fork["cause"]
    place = {
        "node": fork["node"],
        "in the other": fork["other"],
        "operator": fork["op"],
        "module": fork["module"] or "",
        "source": fork["source"] or "",
        "error of its inputs": number(fork["inputs"]),
        "its own error": number(fork["error"]),
    }
    rows = "".join(
        f'<tr><th scope="row">{text(k)}</th><td class="wrap"><code>{text(v)}</code></td></tr>'
        for k, v in place.items()
        if v
    )
    told = f"<p><strong>{text(cause['code'] or cause['kind'])}</strong>: {text(cause['text'])}.</p>"
    missing = fork.get("missing") or []
    absent = f"<p>Only the second graph has: <code>{text(', '.join(missing[:40]))}</code></p>" if missing else ""
    body = f"{told}<p>What to do: {text(cause['fix'])}.</p>{absent}" + scroll(
        f"<table><tbody>{rows}</tbody></table>", "The fork"
    )
    return section("fork", "Where the runs part", body)


def _gates(data: Data) -> str:
    lead = (
        "L judges every operator alone with junk in its padding, C the whole model against the native one, J the whole "
        "model with junk in the container."
    )
    body = table("The gates", data["gates"])
    failing = table("What failed", data.get("failing", []), code=("node", "output"))
    return section("gates", "Gates", body + (f"<h3>What failed</h3>{failing}" if failing else ""), lead)


def _depth(data: Data) -> str:
    names = [series["name"] for series in data["depth"]["series"]]
    caption = "Largest difference to the run it is compared with, relative to scale; a mark is where a layer begins."
    if len(names) > 1:
        caption += f" The grey line is {names[0]}, the coloured one {names[-1]}."
    if any(series.get("fork") for series in data["depth"]["series"]):
        caption += " A circle marks where a run parts."
    body = figure(scroll(f'<div class="wide">{depth(data["depth"])}</div>', "Error along the graph"), caption)
    rows = [
        {
            "run": s["name"],
            "largest error": number(s["largest"]),
            "at the output": number(s["output"]),
            "parts at": s["where"],
        }
        for s in data["depth"]["series"]
    ]
    return section("depth", "Error over depth", body + table("Error by run", rows, code=("parts at",)))


def _heat(data: Data) -> str:
    maps = "".join(
        f"<div><h3>{text(one['name'])}</h3>{scroll(heat(one), one['name'])}</div>" for one in data["heat"]["maps"]
    )
    caption = "A row is a layer, from input to output; a column is a stretch of time. Behind the line is padding."
    key = f'<div class="key">{scale()}</div><p class="note">{caption}</p>'
    return section("heat", "Where in time", f'<div class="maps">{maps}</div>{key}')


def _sweep(data: Data) -> str:
    caption = "Error at every length that was tried, relative to scale. A dotted line is what is allowed."
    *others, last = [graph["name"] for graph in data["sweep"]]
    if others:
        caption += f" Filled dots are {last}, hollow ones {', '.join(others)}."
    return section(
        "sweep",
        "Error over lengths",
        figure(scroll(f'<div class="wide">{lengths(data["sweep"])}</div>', "Error over lengths"), caption),
    )


def _domain(data: Data) -> str:
    body = ""
    for one in data["domain"]:
        body += f"<h3>{text(one['symbol'])}, steps of {text(one['input'])}</h3>"
        body += scroll(f'<div class="wide">{accepted(one)}</div>', "Accepted lengths")
        limits = [{"limit": name, "comes from": why} for name, why in one["limits"].items()]
        body += table(f"Limits of {one['symbol']}", limits)
    lead = "Coloured: the lengths that the model accepts. A mark is the end of a container."
    return section("domain", "Accepted lengths", body, lead)


def _remedies(data: Data) -> str:
    body = []
    for one in data["remedies"]:
        count = len(one["places"])
        before = flow("before", one["before"])
        after = flow("after", one["after"], one["new"])
        places = table(f"Places of {one['code']}", one["places"], code=("node", "module", "source"))
        told = "The place" if count == 1 else f"The {count} places"
        body.append(
            f'<div class="remedy"><h3>{text(one["code"])} · {text(one["op"] or "output")} · '
            f"{count} {'place' if count == 1 else 'places'}</h3>"
            f"<p>{text(sentence(one['leak']))}. Remedy: {text(one['remedy'])}.{_missing(one, count)}</p>"
            f'<div class="flows">{before}{after}</div>'
            f"<details><summary>{told}</summary>{places}</details></div>"
        )
    lead = "What padding would change, and what keeps it from that."
    return section("remedies", "Remedies", "".join(body), lead)


def _missing(kind: Data, count: int) -> str:
    """What a remedy that is not in the file is called: it was not put in."""
    missing = kind.get("missing", 0)
    if not missing:
        return ""
    where = "It is" if count == 1 else f"At {missing} of {count} places it is"
    return f" <strong>{where} missing in the file.</strong>"


def _islands(data: Data) -> str:
    body = figure(islands(data["islands"]["parts"]), data["islands"]["text"])
    return section("islands", f"Where nodes run on {data['islands']['target']}", body)


def _ranges(data: Data) -> str:
    body = figure(
        scroll(f'<div class="wide">{ranges(data["ranges"])}</div>', "Range along the graph"),
        "Largest absolute value along the graph, in the run shown above; a mark is where a layer begins.",
    )
    return section(
        "ranges",
        "Range and half precision",
        body + table("Measured ranges", data.get("range_rows", []), code=("node", "layer")),
    )


def _times(data: Data) -> str:
    lead = (
        "One run on the CPU of this machine, the best of a few. A container takes its full time for any sound; a fixed "
        "size is for providers that need one."
    )
    return section("times", "Time", scroll(f'<div class="wide">{times(data["times"])}</div>', "Time of one run"), lead)


def _tables(data: Data) -> str:
    body = "".join(f"<h3>{text(one['title'])}</h3>{table(one['title'], one['rows'])}" for one in data["tables"])
    return section("tables", data.get("tables_title", "Findings"), body)


_PARTS: tuple[tuple[str, str, Callable[[Data], str]], ...] = (
    ("fork", "Where the runs part", _fork),
    ("tables", "Findings", _tables),
    ("gates", "Gates", _gates),
    ("depth", "Error over depth", _depth),
    ("heat", "Where in time", _heat),
    ("sweep", "Error over lengths", _sweep),
    ("domain", "Accepted lengths", _domain),
    ("remedies", "Remedies", _remedies),
    ("islands", "Where nodes run", _islands),
    ("ranges", "Range and half precision", _ranges),
    ("times", "Time", _times),
)
