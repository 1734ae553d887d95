"""Options that every command on a table has: files, parameters of the method, and how INPUT is read."""

import ast
import csv
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.early import require_files, require_places
from gramfold.errors import InputError
from gramfold.runtime.close_names import did_you_mean
from gramfold.runtime.destinations import check_page

if TYPE_CHECKING:
    from gramfold.io import Table

DEFAULT_SEED = 0  # the same command gives the same result
# options that set a parameter of the constructor
PARAMETER_OF = {
    "dim": "n_components",
    "clusters": "n_clusters",
    "neighbors": "n_neighbors",
    "radius": "radius",
    "metric": "metric",
    "search": "search",
    "drop_short_circuits": "drop_edges",
}


class _NumberOrAuto(click.ParamType):  # type: ignore[type-arg, unused-ignore]  # generic in some versions
    """A whole number, or auto, which the method accepts or refuses."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        return "auto" if value == "auto" else int(click.INT.convert(value, param, ctx))


def _split(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[str] | None:  # noqa: ARG001
    """Column names, separated by commas or repeated; a name with a comma in it stands in double quotes."""
    if not values:
        return None
    try:
        rows = [row for value in values for row in csv.reader(io.StringIO(value, newline=""), skipinitialspace=True)]
    except csv.Error as error:
        raise click.BadParameter(f"{error}; write names separated by commas.") from error
    return [name.strip() for row in rows for name in row]


def names_option(
    option: str, words: str, kind: Any = click.STRING
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option for names of columns, or of another kind that a shell completes."""
    return click.option(option, callback=_split, metavar="A,B", multiple=True, type=kind, help=words)


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add how a table is read, the seed and --no-overwrite: no parameters of a method."""
    for decorate in reversed(_READING_OPTIONS):
        command = decorate(command)
    return command


def beside_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the columns that are written beside the result."""
    for decorate in reversed(_BESIDE_OPTIONS):
        command = decorate(command)
    return command


def preparing_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add how the columns of a table are scaled, and gaps filled in."""
    for decorate in reversed(_PREPARING_OPTIONS):
        command = decorate(command)
    return command


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add INPUT, how it is read, and the parameters of neighbours."""
    for decorate in reversed(_TABLE_OPTIONS):
        command = decorate(command)
    return command


_COLUMN_OPTIONS: list[Callable[..., Any]] = [
    names_option("--columns", "Use only these columns; repeatable."),
    names_option("--skip", "Leave these columns out; repeatable."),
]
_TEXT_OPTIONS: list[Callable[..., Any]] = [
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a text file holds column names.  [default: detect]",
    ),
    click.option("--encoding", metavar="NAME", help="Encoding of a text file: utf-8, latin-1, …  [default: detect]"),
    click.option("--separator", metavar="MARK", help="What separates columns: , ; | tab space.  [default: detect]"),
    click.option("--decimal", metavar="MARK", help="Decimal separator of a text file, as in 1,5.  [default: detect]"),
    click.option("--thousands", metavar="MARK", help="Thousands separator, as in 1,234.  [default: detect]"),
]
_CODES_OPTION = click.option(
    "--na", metavar="VALUE", multiple=True, help="Value that stands for a missing one, such as -999; repeatable."
)
_RUN_OPTIONS: list[Callable[..., Any]] = [
    click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="Seed of the random numbers."),
    click.option("--no-overwrite", is_flag=True, help="Raise an error if the file to write exists."),
]
_BESIDE_OPTIONS: list[Callable[..., Any]] = [
    click.option("--id", "ids", metavar="COLUMN", help="Column that names the rows; it is written first, and no data."),
    names_option("--keep", "Columns to write beside the result, or all."),
]
_PREPARING_OPTIONS: list[Callable[..., Any]] = [
    click.option(
        "--scale",
        type=click.Choice(["auto", "none", "standard", "robust"]),
        default="auto",
        show_default=True,
        help="Divide columns by their standard deviations (or quartiles); auto: where units differ.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["auto", "error", "drop", "mean", "ppca"]),
        default="auto",
        show_default=True,
        help="Missing values: an error, rows left out, or filled in; auto: from similar rows.",
    ),
]
_READING_OPTIONS = [*_COLUMN_OPTIONS, _CODES_OPTION, *_TEXT_OPTIONS, *_RUN_OPTIONS]
_TABLE_OPTIONS = [
    click.argument("source", metavar="INPUT", type=click.Path(path_type=Path)),
    click.option(
        "-k",
        "--neighbors",
        "--n-neighbors",
        "neighbors",
        type=_NumberOrAuto(),
        help="Number of neighbours of each row; sde: or auto.  [default: 8; sde: auto]",
    ),
    click.option(
        "--radius", type=float, help="Use all rows within this distance as neighbours, instead of a fixed number."
    ),
    click.option(
        "--metric",
        help="Distance between rows: euclidean, cosine, …, gower (INPUT may hold text and gaps), or precomputed (INPUT "
        "holds distances).  [default: euclidean]",
    ),
    click.option(
        "--search",
        type=click.Choice(["auto", "exact", "approximate"]),
        help="How neighbours are found.  [default: auto]",
    ),
    click.option(
        "--drop-short-circuits",
        is_flag=True,
        flag_value="short_circuits",
        default=None,
        help="Remove edges of the neighbour graph that cut through the ambient space.",
    ),
    click.option(
        "--set",
        "settings",
        metavar="NAME=VALUE",
        multiple=True,
        help="Any other parameter of the method (see `gramfold methods NAME`); repeatable.",
    ),
    *_COLUMN_OPTIONS,
    click.option(
        "--sample-weight",
        "weight",
        metavar="COLUMN",
        help="Column with the weight of each row, for methods that use weights; it is excluded from the data.",
    ),
    _CODES_OPTION,
    *_TEXT_OPTIONS,
    *_RUN_OPTIONS,
    click.option("-q", "--quiet", is_flag=True, help="Print only warnings and errors."),
]


def check_files(
    sources: Sequence[Path],
    out: Path,
    picture: Path | None,
    no_overwrite: bool,
    model: Path | None = None,
    report: Path | None = None,
) -> None:
    """Raise an error for files that are not there or cannot be written, before the computation and not after it."""
    require_files(*sources)
    require_places(out, picture, model)
    from gramfold.io import check_destination

    check_destination(out)
    if picture is not None:
        from gramfold.plotting import check_picture_destination

        check_picture_destination(picture)
        if picture.resolve() == out.resolve():
            raise InputError(f"'{picture}' and '{out}' are the same file: write the map and its picture to two files.")
    if model is not None and any(other is not None and model.resolve() == other.resolve() for other in (out, picture)):
        raise InputError(f"'{model}' would be written twice: give the model a file of its own.")
    for path in (out, picture, model):
        _check_existing(path, sources, no_overwrite)
    check_report(report, sources, [out, picture, model], no_overwrite)


def check_report(
    report: Path | None, sources: Sequence[Path], others: Sequence[Path | None], no_overwrite: bool
) -> None:
    """The same of a page, which is no other file that is written."""
    if report is None:
        return
    check_page(report)
    if any(other is not None and report.resolve() == other.resolve() for other in others):
        raise InputError(f"'{report}' would be written twice: give the report a file of its own.")
    _check_existing(report, sources, no_overwrite)


def _check_existing(path: Path | None, sources: Sequence[Path], no_overwrite: bool) -> None:
    """Refuse to replace an input file, or any file that is there where that is not wanted."""
    if path is None or not path.exists():
        return
    if any(_same(path, source) for source in sources):
        raise InputError(f"'{path}' is an input file and would be overwritten: write to another file.")
    if no_overwrite:
        raise InputError(f"'{path}' already exists: choose another name, or leave out --no-overwrite.")


def check_json(source: Path, out: Path | None, no_overwrite: bool, what: str) -> None:
    """Raise an error for a JSON file that cannot be written; `what` is said of what it would hold."""
    require_files(source)
    require_places(out)
    if out is None:
        return
    if out.suffix.lower() != ".json":
        raise InputError(f"'{out}' does not end in .json, and {what} written as JSON only: choose such a name.")
    if no_overwrite and out.exists():
        raise InputError(f"'{out}' already exists: choose another name, or leave out --no-overwrite.")
    if out.resolve() == source.resolve():
        raise InputError(f"'{out}' is an input file and would be overwritten: write to another file.")


def _same(path: Path, source: Path) -> bool:
    try:
        return path.samefile(source)
    except (OSError, ValueError):  # there is no such source, which its reader reports
        return False


def read_options(options: dict[str, Any]) -> dict[str, Any]:
    """How files are read, taken out of the options; empty for the defaults."""
    known = ("header", "encoding", "separator", "decimal", "thousands", "na")
    given = {name: options.pop(name, None) for name in known}
    return {name: value for name, value in given.items() if value is not None and value != ()}


def read_input(
    source: Path,
    model: Any,
    written: dict[str, Any],
    columns: list[str] | None,
    skip: list[str] | None,
    labels: str | None = None,
) -> "Table":
    """INPUT as a table, or as a sparse matrix without column names if the model takes one.

    `written` is how text files are read.
    """
    from gramfold.cli.written_numbers import warn_of_written_numbers
    from gramfold.io import Table, read_sparse, read_table
    from gramfold.neighbors.metrics import reads_mixed

    tags = model.__sklearn_tags__().input_tags
    matrix: Any = read_sparse(source)
    if matrix is None:
        mixed = reads_mixed(getattr(model, "metric", None))
        named = {"columns": columns, "skip": skip, "labels": labels}
        table = read_table(source, missing=tags.allow_nan, text=mixed, **named, **written)  # type: ignore[arg-type]
        require_own_names(table)
        if mixed:
            warn_of_written_numbers(source, table)
            _by_position(model, table)
        return table
    if not tags.sparse or (_maybe_graph(matrix, model) and not tags.pairwise):
        raise InputError(_not_sparse(source, model))
    named = {"--columns": columns, "--skip": skip, "--labels": labels, **{f"--{name}": name for name in written}}
    given = [option for option, value in named.items() if value is not None]
    if given:
        raise InputError(f"'{source}' is a sparse matrix, which has no column names or text: leave out {given[0]}.")
    return Table(matrix, [], source)


def read_matrix(source: Path) -> "Table":
    """A sparse matrix whose rows are to be mapped, by a method that is not known yet."""
    from gramfold.io import Table, read_sparse

    matrix: Any = read_sparse(source)
    if matrix.shape[0] == matrix.shape[1]:
        raise InputError(
            f"'{source}' is a square sparse matrix, which may be a graph: name a method, with --metric precomputed if "
            "it holds the distances of a neighbour graph, or with --set weights=precomputed if it holds edge weights."
        )
    return Table(matrix, [], source)


def require_own_names(table: "Table") -> "Table":
    """The same table; an error if columns share a name, as of a DataFrame: no option can name one of them."""
    from collections import Counter

    double = [name for name, count in Counter(table.names).items() if count > 1]
    if double:
        raise InputError(f"'{table.source}' has several columns named '{double[0]}': give them different names.")
    return table


def _by_position(model: Any, table: "Table") -> None:
    """Set the columns of categories by their positions: the values of a table do not have its names."""
    params = model.metric_params or {}
    given = params.get("categorical")
    if isinstance(given, list | tuple):
        places = [table.names.index(one) if one in table.names else one for one in given]
        model.set_params(metric_params={**params, "categorical": places})


def _maybe_graph(matrix: Any, model: Any) -> bool:
    """Whether a matrix for a graph method is square: more likely a graph than rows of as many columns."""
    from gramfold.embedding.groups import Neighborhood

    return matrix.shape[0] == matrix.shape[1] and isinstance(model, Neighborhood)


def _not_sparse(source: Path, model: Any) -> str:
    from gramfold.embedding.continuous import ContinuousMap
    from gramfold.embedding.groups import EdgeWeights, GraphChoice

    change = "save it as a dense array with numpy.save"
    needed = "needs a dense table"
    if isinstance(model, GraphChoice) and not isinstance(model, ContinuousMap):
        needed = "needs rows, and a square sparse matrix may be a graph"
        change = "use --metric precomputed if it holds the distances of a neighbour graph"
    if isinstance(model, EdgeWeights):
        change += ", or --set weights=precomputed if it holds edge weights"
    name = type(model).__name__
    return f"'{source}' is a sparse matrix, but {name} with these parameters {needed}: {change}."


def chosen_parameters(
    estimator: type, options: dict[str, Any], settings: Sequence[str], seed: int, quiet: bool
) -> dict[str, Any]:
    """Constructor parameters from the options, from --set, and what the command line itself adds."""
    from gramfold.cli.methods import parameters_of

    known = parameters_of(estimator)
    chosen: dict[str, Any] = {}
    for option, value in options.items():
        if value is None:
            continue
        name = PARAMETER_OF[option]
        if name not in known:
            raise InputError(f"{estimator.__name__} has no parameter {name}: leave out --{option.replace('_', '-')}.")
        chosen[name] = _value(value) if option == "dim" else value  # which may be a fraction or a string
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise InputError(f"--set {setting} has no value: write --set {setting}=VALUE.")
        if name not in known:
            instead = did_you_mean(name, known) or f"it has {', '.join(known)}."
            raise InputError(f"{estimator.__name__} has no parameter '{name}': {instead}")
        if name in chosen:
            raise InputError(f"{name} was given twice, once with --set: give it once.")
        chosen[name] = _value(text)
    # a deterministic method ignores the seed, so --seed is never wrong
    if "random_state" in known:
        chosen.setdefault("random_state", seed)
    if "verbose" in known and not quiet and sys.stderr is not None and sys.stderr.isatty():
        chosen.setdefault("verbose", 1)
    return chosen


def _value(text: str) -> Any:
    """A number, None, True, False, list … as written in Python; anything else is a string."""
    named = {"none": None, "true": True, "false": False}
    if text.strip().lower() in named:
        return named[text.strip().lower()]
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
