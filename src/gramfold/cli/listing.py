"""What `gramfold methods` lists: each method in a line, in groups. Nothing is imported for it."""

from dataclasses import dataclass

WIDTH = 80  # columns of a terminal


@dataclass(frozen=True)
class Line:
    """A method, and what is asked of it first."""

    name: str
    use: str  # what it is for, in at most eight words
    new_rows: bool = True  # whether rows that the fit did not see can be placed
    many_rows: bool = True  # whether memory grows as the rows, and not as their square


GROUPS: dict[str, tuple[Line, ...]] = {
    "Where to begin": (
        Line("pca", "a first look; straight axes"),
        Line("isomap", "curved sheets; distances along them", many_rows=False),
        Line("laplacian_eigenmaps", "groups, and what connects them"),
    ),
    "Distances along the data (geodesic)": (
        Line("landmark_isomap", "Isomap for many rows"),
        Line("kernel_isomap", "Isomap of noisy rows", many_rows=False),
        Line("sde", "unfolds a sheet, with a proof"),
    ),
    "Random walks on the graph": (
        Line("diffusion_map", "branches; uneven density"),
        Line("commute_time", "what many paths connect"),
        Line("heat_kernel", "structure at a chosen scale"),
        Line("kernel_eigenmaps", "smooth maps that are formulas"),
    ),
    "Locally straight": (
        Line("lle", "curved sheets at low cost"),
        Line("modified_lle", "LLE, more stable"),
        Line("hessian_lle", "flat sheets with holes"),
        Line("ltsa", "curved sheets without stretching"),
    ),
    "Given distances": (
        Line("classical_mds", "any distances, all of them", many_rows=False),
        Line("landmark_mds", "the same from a few landmarks"),
        Line("ordinal_mds", "ratings: only their order counts", new_rows=False, many_rows=False),
    ),
    "Kernels": (
        Line("kernel_pca", "smooth curved features; denoising", many_rows=False),
        Line("nystrom_embedding", "kernel PCA from a few landmarks"),
    ),
    "Straight axes": (
        Line("factor_analysis", "columns with different noise"),
        Line("probabilistic_pca", "gaps in the table; likelihoods"),
        Line("mixture_ppca", "groups with axes of their own"),
        Line("lpp", "axes that keep neighbours or classes"),
        Line("projection_pursuit", "directions that are least like noise"),
        Line("oriented_pca", "signal against known distortions"),
        Line("distortion_discriminant_analysis", "fingerprints of audio and time series"),
    ),
}


def listed() -> str:
    """All groups, in lines of at most 80 characters."""
    width = max(len(line.name) for lines in GROUPS.values() for line in lines if len(line.name) < _LONG)
    out = [f"  {'':<{width}}  {'for':<{_USE}}  new rows  many rows"]
    for title, lines in GROUPS.items():
        out.append(f"\n{title}" if len(out) > 1 else title)
        for line in lines:
            last = f"{line.use:<{_USE}}  {_said(line.new_rows):<8}  {_said(line.many_rows)}"
            short = len(line.name) <= width
            out += [f"  {line.name:<{width}}  {last}"] if short else [f"  {line.name}", f"  {'':<{width}}  {last}"]
    return "\n".join([*out, "", *_BELOW])


def _said(yes: bool) -> str:
    return "yes" if yes else "no"


_LONG = 24  # a longer name has a line of its own
_USE = 36  # letters of the longest use
_BELOW = (
    "new rows: whether rows that the map was not made of can be placed on it",
    "many rows: whether memory grows as the rows, and not as their square",
    "",
    "gramfold embed TABLE --method NAME --out MAP   the beginning of a name will do",
    "gramfold methods NAME                          what one does, and its settings",
    "gramfold advise TABLE                          which one is for this table",
    "gramfold cluster TABLE --out FILE              groups: spectral_clustering",
)
