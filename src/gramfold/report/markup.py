"""Elements of the sections as text: everything that comes from data is escaped here."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from gramfold.errors import InputError

# what no HTML or XML document may hold, and halves of pairs that UTF-8 cannot write
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean(text: Any) -> str:
    """Text that can stand between tags and in a quoted attribute."""
    return escape(_FORBIDDEN.sub("\ufffd", str(text)), quote=True)


def named(text: Any) -> str:
    """A name from the data, whose direction of writing does not spill over to what stands around it."""
    return f"<bdi>{clean(text)}</bdi>"


def code(text: Any) -> str:
    """A name as it is typed."""
    return f"<code>{clean(text)}</code>"


def value(name: str, number: Any, shown: str) -> str:
    """A number of `gramfold.diagnostics`: rounded for the eye, exact in its attributes."""
    exact = clean(repr(float(number)) if not isinstance(number, str) else number)
    return f'<data value="{exact}" data-name="{clean(name)}" data-value="{exact}">{clean(shown)}</data>'


def paragraph(html: str, kind: str = "") -> str:
    """A paragraph of HTML."""
    return f'<p class="{kind}">{html}</p>' if kind else f"<p>{html}</p>"


def section(key: str, title: str, lead: str, body: str) -> str:
    """A section of the page: heading and lead beside its body."""
    return (
        f'<section id="{key}" class="believe" aria-labelledby="{key}-heading"><div class="lead">'
        f'<h2 id="{key}-heading">{clean(title)}</h2>{lead}</div><div class="body">{body}</div></section>'
    )


def not_shown(reason: str) -> str:
    """Why a part is missing, in one sentence."""
    return f'<p class="missing">Not shown. {clean(sentence(reason))}</p>'


def sentence(words: str) -> str:
    """With a capital and a full stop."""
    words = words.strip()
    return words if not words else f"{words[0].upper()}{words[1:].rstrip('.')}."


class MissingPartError(InputError):
    """A part of the page cannot be made; the message is the whole reason."""


def reason_of(error: BaseException) -> str:
    """What was found, without what to change in the call of something else."""
    return str(error) if isinstance(error, MissingPartError) else str(error).split(":")[0]


def details(summary: str, body: str) -> str:
    """What is folded away until asked for."""
    return f"<details><summary>{clean(summary)}</summary>{body}</details>"


def table(caption: str, heads: Iterable[str], rows: Iterable[tuple[str, Iterable[str]]], *, kind: str = "") -> str:
    """A table with a head for each column and each row; on narrow screens each row becomes a block.

    Heads, heads of rows and cells are HTML. Roles are written out, because a table that is displayed as blocks loses
    them.
    """
    names = list(heads)
    head = "".join(f'<th scope="col" role="columnheader">{name}</th>' for name in names)
    body = "".join(
        f'<tr role="row"><th scope="row" role="rowheader">{first}</th>'
        + "".join(
            f'<td role="cell" data-label="{_label(name)}">{cell}</td>'
            for name, cell in zip(names[1:], cells, strict=True)
        )
        + "</tr>"
        for first, cells in rows
    )
    return (
        f'<table class="stack {kind}" role="table"><caption>{caption}</caption><thead role="rowgroup"><tr role="row">'
        f'{head}</tr></thead><tbody role="rowgroup">{body}</tbody></table>'
    )


def _label(head: str) -> str:
    """The words of a head, for an attribute."""
    return re.sub(r"<[^>]*>", "", head)


def pairs(items: Mapping[str, str]) -> str:
    """A list of words and what they mean; the values are HTML."""
    return (
        '<dl class="pairs">'
        + "".join(f"<div><dt>{clean(name)}</dt><dd>{html}</dd></div>" for name, html in items.items())
        + "</dl>"
    )


def bullets(items: Iterable[str], kind: str = "") -> str:
    """A list; items are HTML."""
    return f'<ul class="{kind}">' + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def plot(key: str, letter: str, caption: str, svg: str, more: str = "") -> str:
    """A chart with its caption."""
    mark = f'<b class="letter">{letter}</b> ' if letter else ""
    return f'<figure class="plot" id="{key}"><figcaption>{mark}{caption}</figcaption>{svg}{more}</figure>'
