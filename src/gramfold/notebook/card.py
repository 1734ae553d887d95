"""Picture and words as HTML: no script, no style sheet, nothing from the network; colours of the theme around it."""

from base64 import b64encode
from html import escape
from typing import Any

from gramfold.notebook.facts import facts_of, size_of
from gramfold.notebook.picture import Group, Picture, picture_of
from gramfold.notebook.png import png_bytes
from gramfold.notebook.scale import HEIGHT, WIDTH
from gramfold.types import Floats

_MOST_GROUPS = 12  # in the legend
# text takes the colour of the notebook; only its opacity is set, so that it is read on dark and on light
_FRAME = "display:flex;flex-wrap:wrap;gap:8px 20px;align-items:flex-start;margin:4px 0;line-height:1.45;font-size:13px"
_PICTURE = "display:block;margin:0;border:1px solid rgba(128,128,128,.45);border-radius:6px;background:#fff"
_QUIET = "opacity:.7"
_FACTS = "display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 12px;margin-top:8px"
_CHIP = "display:inline-block;width:9px;height:9px;border-radius:50%;border:1px solid rgba(128,128,128,.7)"


def html_card(estimator: Any) -> str:
    """What a notebook shows of a fitted estimator."""
    picture, facts = picture_of(estimator), facts_of(estimator)
    lines = "".join(
        f'<div style="{_QUIET}">{escape(name)}</div><div style="overflow-wrap:anywhere">{escape(text)}</div>'
        for name, text in facts.items()
    )
    notes = "".join(f'<div style="margin-top:6px">⚠ {escape(note)}</div>' for note in picture.notes)
    return (
        f'<div style="{_FRAME}">{_figure(picture)}'
        f'<div style="flex:1 1 260px;min-width:0;max-width:560px">'
        f'<div style="font-size:15px;font-weight:600">{escape(type(estimator).__name__)}</div>'
        f"<div>{escape(size_of(estimator))}</div>"
        f'<div style="{_FACTS}">{lines}</div>{_legend(picture.groups)}{notes}</div></div>'
    )


def _figure(picture: Picture) -> str:
    if picture.pixels is None:
        return ""
    data = b64encode(png_bytes(picture.pixels)).decode("ascii")
    return (
        f'<div style="width:{WIDTH + 2}px;max-width:100%"><img width="{WIDTH}" height="{HEIGHT}" style="{_PICTURE}" '
        f'alt="{escape(picture.alt)}" src="data:image/png;base64,{data}"/>'
        f'<div style="{_QUIET};font-size:11px;margin-top:3px">{escape(picture.caption)}</div></div>'
    )


def _legend(groups: tuple[Group, ...]) -> str:
    if not groups:
        return ""
    named = "".join(
        f'<span style="white-space:nowrap"><span style="{_CHIP};background:{_css(group.color)}"></span> '
        f"{escape(group.name)}: {group.rows:,}</span>"
        for group in groups[:_MOST_GROUPS]
    )
    more = f"<span>and {len(groups) - _MOST_GROUPS:,} more</span>" if len(groups) > _MOST_GROUPS else ""
    return f'<div style="display:flex;flex-wrap:wrap;gap:2px 12px;margin-top:8px">{named}{more}</div>'


def _css(color: Floats) -> str:
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in color)
