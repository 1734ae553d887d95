"""The best map for a purpose, by how much, and whether that is more than noise."""

from collections.abc import Mapping
from dataclasses import dataclass

from gramfold.comparison.judging import PURPOSES, Judgement
from gramfold.errors import InputError

_SEEN = 5e-4  # smaller differences are not seen in three digits, and may be rounding errors
_NARROW = 1.5  # times the noise, below which a lead is narrow
_DIGITS, _MOST_DIGITS = 3, 6
_SHOWS = {
    "local": "keeps most neighbours",
    "global": "keeps the order of all distances best",
    "isometry": "changes lengths between neighbours least",
    "clusters": "keeps labels together best",
}


@dataclass(frozen=True, eq=False, repr=False)
class Best:
    """The best of several maps for a purpose.

    Attributes
    ----------
    purpose : str
        "local", "global", "isometry" or "clusters".
    measure : str
        The measure that maps were ranked by.
    winner : str
        Name of the map with the best value, among those that did not collapse.
    value : float
        Its value.
    runner_up : str or None
        Name of the next one; None where there is no other.
    margin : float
        By how much the winner is better than the next; NaN where there is none.
    noise : float
        Half of the 95% interval of this margin: of two maps that differ by chance alone, 95 of 100 margins are smaller.
        At least 0.0005.
    level_with : tuple of str
        Maps that are worse than the winner by no more than the noise.
    passed_over : dict of str to str
        Maps with a better value than the runner-up that are not ranked, and why.
    faults : tuple of str
        Faults of the winner that are above their thresholds.
    """

    purpose: str
    measure: str
    winner: str
    value: float
    runner_up: str | None
    margin: float
    noise: float
    level_with: tuple[str, ...]
    passed_over: Mapping[str, str]
    faults: tuple[str, ...]

    @property
    def decided(self) -> bool:
        """Whether the margin is larger than the noise."""
        return bool(self.margin > self.noise)

    @property
    def narrow(self) -> bool:
        """Whether it is larger, but less than 1.5 times the noise."""
        return self.decided and bool(self.margin < _NARROW * self.noise)

    @property
    def sentence(self) -> str:
        """All of it in words."""
        who = f"{self.winner} {_SHOWS[self.purpose]} ({self.measure} {self.value:.3f})"
        if self.runner_up is None:
            words = [f"{who}; there is no other map to compare it with."]
        elif self.decided:
            words = [f"{who}, {'narrowly ' * self.narrow}ahead of {self.runner_up} by {self._lead}."]
        else:
            others = ", ".join(self.level_with)
            are = "is" if len(self.level_with) == 1 else "are"
            words = [f"{who}, but not by more than noise: {others} {are} level with it (the margin is {self._lead})."]
        if self.passed_over:
            words.append(f"Not ranked, since collapsed: {', '.join(self.passed_over)}.")
        if self.faults:
            words.append(f"{self.winner} is {', '.join(self.faults)}.")
        return " ".join(words)

    @property
    def _lead(self) -> str:
        """Margin and noise, with as many digits as tell them apart."""
        for digits in range(_DIGITS, _MOST_DIGITS + 1):
            margin, noise = f"{self.margin:.{digits}f}", f"{self.noise:.{digits}f}"
            if margin != noise:
                break
        return f"{margin} ± {noise}"

    def __repr__(self) -> str:
        return f"Best({self.purpose}: {self.sentence})"

    def __str__(self) -> str:
        return self.sentence


def best_of(purpose: str, known: Mapping[str, Judgement]) -> Best:
    """Of the judgements of several maps, by name."""
    if purpose not in PURPOSES:
        raise InputError(f"purpose={purpose!r} is not known: use one of {', '.join(PURPOSES)}.")
    measure, higher = PURPOSES[purpose]
    sign = 1.0 if higher else -1.0
    ranked = sorted(
        (name for name, one in known.items() if measure in one.added),
        key=lambda name: -sign * known[name].measures[measure].value,
    )
    if not ranked:
        what = "no labels were given" if purpose == "clusters" else f"no map has a {measure}"
        raise InputError(f"there is no best map for '{purpose}': {what}.")
    collapsed = {name: words for name in ranked if (words := _collapse(known[name]))}
    able = [name for name in ranked if name not in collapsed] or ranked
    winner, *others = able
    value = known[winner].measures[measure].value

    def behind(name: str) -> tuple[float, float]:
        noise = max(known[winner].added[measure].noise(known[name].added[measure]), _SEEN)
        return max(sign * (value - known[name].measures[measure].value), 0.0), noise

    apart = {name: behind(name) for name in others}
    margin, noise = apart[others[0]] if others else (float("nan"), float("nan"))
    found = known[winner].faults
    return Best(
        purpose,
        measure,
        winner,
        value,
        others[0] if others else None,
        margin,
        noise,
        tuple(name for name, (less, half) in apart.items() if less <= half),
        {name: collapsed[name] for name in ranked[: ranked.index(able[:2][-1])] if name in collapsed},
        tuple(found.named) if found is not None else (),
    )


def _collapse(judgement: Judgement) -> str:
    """Why a map cannot win; empty where it can."""
    faults = judgement.faults
    return faults.collapsed.words if faults is not None and faults.collapsed.named else ""
