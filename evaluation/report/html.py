"""How is a report shown in a browser? One page with everything in it, which needs no network."""

import re
from collections.abc import Sequence
from html import escape

from shoal.evaluation.report.blocks import Block, Heading, Picture, Points, Table, Text, cell

NARROW = " for phones"  # ends the name of a picture's other form
_SHORT = 7  # columns of a table that a phone shows row by row
_STYLE = """
:root { color-scheme: light }
body { font: 16px/1.55 system-ui, "DejaVu Sans", Verdana, sans-serif; color: #1c1c1c; background: #fff;
  max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem }
h1 { font-size: 1.7rem; line-height: 1.2 } h2 { margin-top: 2.4rem;
  border-bottom: 1px solid #ddd; padding-bottom: .2rem }
h3 { margin-top: 1.8rem }
p.lead { font-size: 1.15rem } p.label { background: #fff4d6; border-left: 4px solid #e69f00; padding: .5rem .8rem }
p.aside, figcaption { color: #555; font-size: .92rem }
code { background: #f1f3f5; border-radius: 3px; padding: 0 .25em; font-size: .93em }
pre { background: #f1f3f5; padding: .6rem .8rem; font-size: .85rem; white-space: pre-wrap; overflow-wrap: anywhere }
figure { margin: 1.2rem 0 } figure svg { max-width: 100%; height: auto }
figure .narrow { display: none }
.wide { overflow-x: auto } table { border-collapse: collapse; font-size: .88rem }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e4e4e4; text-align: left }
th { background: #f7f7f7; position: sticky; top: 0; cursor: pointer }
td, th { overflow-wrap: normal } td.n, td:first-child { white-space: nowrap }
td.n { text-align: right; font-variant-numeric: tabular-nums }
td.long { white-space: normal; min-width: 14rem } summary { cursor: pointer; padding: .4rem 0; color: #0b4f8a }
#tip { position: fixed; pointer-events: none; background: #1c1c1c; color: #fff; padding: .25rem .5rem;
  border-radius: 4px;
  font-size: .85rem; display: none; max-width: 24rem }
@media (max-width: 600px) {
  body { margin: 1rem auto; padding: 0 .8rem } ul { padding-left: 1.2rem }
  figure .narrow { display: block } figure .narrow + .full { display: none }
  table.short, .short tbody, .short tr, .short td { display: block; white-space: normal } .short thead { display: none }
  .short tr { padding: .4rem 0; border-bottom: 2px solid #ddd }
  .short td { border: 0; padding: .1rem 0; text-align: left }
  .short td:not(:empty)::before { content: attr(data-of) ": "; color: #555 } td.long { min-width: 0 }
}
@media print { details > * { display: block } }
"""
# Names the mark under the pointer, and sorts a table by the column whose head is clicked.
_SCRIPT = """
const tip = document.getElementById('tip');
document.addEventListener('mousemove', e => {
  const mark = e.target.closest && e.target.closest('path[aria-label]');
  tip.style.display = mark ? 'block' : 'none';
  if (mark) {
    tip.textContent = mark.getAttribute('aria-label');
    tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = (e.clientY + 14) + 'px';
  }
});
document.querySelectorAll('th').forEach(th => th.addEventListener('click', () => {
  const body = th.closest('table').tBodies[0], i = th.cellIndex, up = th.dataset.up !== '1';
  th.dataset.up = up ? '1' : '0';
  const key = row => row.cells[i].dataset.v ?? row.cells[i].textContent;
  const number = row => parseFloat(key(row));
  [...body.rows].sort((a, b) => (isNaN(number(a)) || isNaN(number(b))
    ? key(a).localeCompare(key(b)) : number(a) - number(b)) * (up ? 1 : -1)).forEach(row => body.append(row));
}));
"""


def to_html(title: str, blocks: Sequence[Block], pictures: dict[str, str]) -> str:
    """The page; `pictures` are the SVG texts by name, for phones with another ending."""
    body = "\n".join(_block(block, pictures) for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n{body}\n"
        f'<div id="tip" role="status"></div>\n<script>{_SCRIPT}</script>\n</body>\n</html>\n'
    )


def _block(block: Block, pictures: dict[str, str]) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{inline(text)}</h{level}>"
        case Text(text, "code"):
            return f"<pre>{escape(text, quote=False)}</pre>"
        case Text(text, kind):
            return f'<p class="{kind}">{inline(text)}</p>' if kind else f"<p>{inline(text)}</p>"
        case Points(texts):
            return "<ul>" + "".join(f"<li>{inline(text)}</li>" for text in texts) + "</ul>"
        case Picture(name, _, caption):
            return f"<figure>{_drawn(name, pictures)}<figcaption>{inline(caption)}</figcaption></figure>"
        case Table():
            return _table(block)


def inline(text: str) -> str:
    """A sentence with its marks as HTML; everything else in it is escaped."""
    marked = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))
    marked = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', marked)
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", marked)


def _drawn(name: str, pictures: dict[str, str]) -> str:
    """The picture and, where there is one, its form for phones."""
    narrow = pictures.get(f"{name}{NARROW}")
    full = f'<div class="full">{_only_svg(pictures[name])}</div>'
    return f'<div class="narrow">{_only_svg(narrow)}</div>{full}' if narrow else full


def _only_svg(text: str) -> str:
    """Without a prologue, which has no place within a page."""
    return text[text.index("<svg") :]


def _table(table: Table) -> str:
    head = "".join(f"<th>{inline(name)}</th>" for name in table.header)
    body = "".join(f"<tr>{''.join(map(_cell, row, table.header))}</tr>\n" for row in table.rows)
    caption = f'<p class="aside">{inline(table.caption)}</p>' if table.caption and not table.folded else ""
    kind = ' class="short"' if len(table.header) <= _SHORT else ""
    whole = (
        f'{caption}<div class="wide"><table{kind}><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>'
    )
    return f"<details><summary>{inline(table.caption)}</summary>{whole}</details>" if table.folded else whole


def _cell(value: object, column: str) -> str:
    of = f'data-of="{escape(column)}"'
    if isinstance(value, int | float):
        return f'<td class="n" {of} data-v="{value!r}">{cell(value)}</td>'
    text = str(value)
    return f'<td class="long" {of}>{inline(text)}</td>' if len(text) > 60 else f"<td {of}>{inline(text)}</td>"
