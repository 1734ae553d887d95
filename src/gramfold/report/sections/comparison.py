"""The page of a comparison: what is best for what, all maps, their numbers, what failed, and how it was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gramfold.report.compared import ComparedEntry, ComparedSubject, Ranking
from gramfold.report.markup import clean, pairs
from gramfold.report.sections.comparison_charts import measure_charts
from gramfold.report.sections.comparison_tables import costs_table, faults_table, measures_table, told
from gramfold.report.sections.comparison_terms import PURPOSES, listed, name_of, number, sentence
from gramfold.report.subject import Sections
from gramfold.runtime.counting import counted

_IN_TILES = {"r_nx": "neighbours", "distance_correlation": "distances", "neighborhood_purity": "labels"}
_FOUR = 4  # maps side by side on the widest screens


@dataclass(frozen=True)
class Tile:
    """The picture of a map, which stands for it where it cannot be drawn by script."""

    source: str  # data: address
    width: int
    height: int
    alt: str
    caption: str = ""  # what the picture does not show


def compared(subject: ComparedSubject, versions: Mapping[str, str]) -> Sections:
    """Everything but the maps."""
    below = [
        measures_table(subject),
        measure_charts(subject),
        faults_table(subject),
        costs_table(subject),
        told(subject),
        _made(subject, versions),
    ]
    return Sections(_head(subject), _best(subject), "\n".join(part for part in below if part))


def _head(subject: ComparedSubject) -> str:
    on = "" if subject.n_judged == subject.n_given else f", judged on the {subject.n_judged:,} that all of them have"
    drawn = "" if subject.n_sampled == subject.n_judged else f", distances from {subject.n_sampled:,} of them"
    words = [
        f"{counted(len(subject.entries), 'map')} of {counted(subject.n_given, 'row')}{on}{drawn}",
        counted(subject.n_neighbors, "neighbour"),
        f"metric {subject.metric}",
    ]
    return f'<h1>{clean(subject.title)}</h1><p class="quiet" id="about">{clean(" · ".join(words))}</p>'


# --- best for what


def _best(subject: ComparedSubject) -> str:
    cards = "".join(_card(one) for one in subject.rankings)
    said = "".join(f'<p class="caution">{clean(words)}</p>' for words in _cautions(subject))
    return (
        '<section id="best" aria-labelledby="best-title"><h2 id="best-title" class="away">Best for what</h2>'
        f'<p class="headline">{headline(subject)}</p>{f"<ul class=cards>{cards}</ul>" if cards else ""}{said}</section>'
    )


def _cautions(subject: ComparedSubject) -> list[str]:
    """What has to be said with any of it."""
    words = list(subject.notes)
    widths = {one.name: one.n_components for one in subject.entries if one.measures}
    if len(set(widths.values())) > 1:
        most = max(widths.values())
        wide = [name for name, width in widths.items() if width == most]
        words.append(
            f"Maps differ in their number of dimensions, and more of them keep more: {listed(wide)} "
            f"{'has' if len(wide) == 1 else 'have'} {most}, so some of the lead may be theirs."
        )
    return words


def headline(subject: ComparedSubject) -> str:
    """What all rankings say together."""
    judged = [one for one in subject.entries if one.measures]
    if not subject.rankings:
        return "No map could be ranked: no measure is known."
    if len(judged) < 2:
        return f"Only {name_of(judged[0].name)} was judged, so there is no other map to compare it with."
    won: dict[str, list[str]] = {}
    for one in subject.rankings:
        if one.decided:
            won.setdefault(one.winner, []).append(f"{_purpose(one)}{' (narrowly)' * one.narrow}")
    level = [one for one in subject.rankings if not one.decided]
    if not won:
        return "No map is ahead of all others by more than noise."
    parts = [f"<b>{name_of(name)}</b> is best for {listed(purposes)}" for name, purposes in won.items()]
    words = f"{'; '.join(parts)}."
    if level:
        words += f" For {listed([_purpose(one) for one in level])} no map is ahead by more than noise."
    return words


def _card(one: Ranking) -> str:
    title = PURPOSES.get(one.purpose, (one.purpose, one.purpose))[0]
    first = name_of(one.winner) if one.decided or one.runner_up is None else "No clear best"
    state = "alone" if one.runner_up is None else _lead(one)
    word = {
        "alone": "no other map",
        "narrow": "narrow lead",
        "clear": "clear lead",
        "level": f"{1 + len(one.level_with)} maps are level",
    }[state]
    return (
        f'<li class="card" data-purpose="{clean(one.purpose)}" data-decided="{str(one.decided).lower()}">'
        f'<h3>{clean(title)}</h3><p class="winner">{first} <span class="tag {state}">{clean(word)}</span></p>'
        f'<p class="sentence">{sentence(one.sentence)}</p></li>'
    )


def _lead(one: Ranking) -> str:
    if not one.decided:
        return "level"
    return "narrow" if one.narrow else "clear"


def _purpose(one: Ranking) -> str:
    return PURPOSES.get(one.purpose, (one.purpose, one.purpose))[1]


# --- maps


def maps_section(subject: ComparedSubject, tiles: Mapping[str, Tile], key: str, notes: Sequence[str]) -> str:
    """The grid of maps, with pictures that scripts put their canvas over; `key` says what colours of these mean."""
    count = len(subject.entries)
    # rows of the grid that are as full as they can be
    wide = min(range(min(3, count), min(_FOUR, count) + 1), key=lambda across: (-count % across, -across))
    said = "".join(f"<p class=quiet>{clean(note)}</p>" for note in notes)
    grid = "".join(_tile(subject, one, j, tiles.get(one.name)) for j, one in enumerate(subject.entries))
    return (
        '<section id="maps" aria-labelledby="maps-title"><h2 id="maps-title">The maps</h2>'
        f'<div id="tools"></div><div id="map-grid" class="grid" data-wide="{wide}" data-count="{count}">{grid}</div>'
        f'<div id="still-key">{key}</div>{said}</section>'
    )


def _tile(subject: ComparedSubject, one: ComparedEntry, number_of: int, tile: Tile | None) -> str:
    faults = one.faults.named if one.faults is not None else []
    badges = "".join(f'<li class="tag bad">{name}</li>' for name in faults)
    stars = "".join(
        f'<li class="tag good">{"narrowly " * each.narrow}best for {clean(_purpose(each))}</li>'
        for each in subject.rankings
        if each.decided and each.winner == one.name
    )
    stage = _picture(one, tile)
    values = [
        f"<span><span class=quiet>{word}</span> <b>{number(one.measures[name].value, 2)}</b></span>"
        for name, word in _IN_TILES.items()
        if name in one.measures
    ]
    numbers = f'<p class="values">{" ".join(values)}</p>' if values else ""
    failed = (
        f'<p class="why"><b>{"Not judged" if tile else "No map"}</b>: {clean(one.failure)}</p>' if one.failure else ""
    )
    marks = f'<ul class="tags">{stars}{badges}</ul>' if stars or badges else ""
    kind = "map" if tile is not None else "map absent"
    return (
        f'<article class="{kind}" data-name="{clean(one.name)}" data-entry="{number_of}">'
        f"<h3>{name_of(one.name)}</h3>{stage}{failed}{numbers}{marks}</article>"
    )


def _picture(one: ComparedEntry, tile: Tile | None) -> str:
    if tile is None:
        return "" if one.failure else '<p class="why">It has infinite coordinates, so it cannot be drawn.</p>'
    note = f'<p class="quiet note">{clean(tile.caption)}</p>' if tile.caption else ""
    return (
        f'<div class="pane"><img class="still" src="{tile.source}" width="{tile.width}" height="{tile.height}" '
        f'alt="{clean(tile.alt)}"></div>{note}'
    )


# --- how it was made


def _made(subject: ComparedSubject, versions: Mapping[str, str]) -> str:
    facts = {
        "Rows": f"SHA-256 {subject.digest[:16]}" if subject.digest else "",
        "Seconds": ", ".join(f"{name} {value:.2f}" for name, value in subject.seconds.items()),
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }
    call = f'<pre class="copy" tabindex="0"><code>{clean(subject.call)}</code></pre>' if subject.call else ""
    return (
        '<section id="made" aria-labelledby="made-title"><h2 id="made-title">How it was made</h2>'
        f"{call}{pairs({name: clean(text) for name, text in facts.items() if text})}</section>"
    )
