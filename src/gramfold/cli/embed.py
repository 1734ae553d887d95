"""`gramfold embed`: read a table or a graph, write the coordinates of each row."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.aligned import aligned_account, check_aligned, read_old_map
from gramfold.cli.beside import account_of, check_use, read_beside
from gramfold.cli.completing import METHOD_OR_AUTO
from gramfold.cli.drawn import check_colored, draw
from gramfold.cli.early import require_files
from gramfold.cli.explained import check_explained, explained_lines
from gramfold.cli.grouped import grouped
from gramfold.cli.interrupted import kept
from gramfold.cli.map_place import map_beside
from gramfold.cli.options import check_files, chosen_parameters, names_option, read_options, table_options
from gramfold.cli.row_weights import account_of_weights, check_weighed, read_weighed
from gramfold.cli.sentences import in_sentences
from gramfold.errors import GramfoldWarning, InputError
from gramfold.methods.names import find_method, full_name

if TYPE_CHECKING:
    from gramfold.io import Columns, Table

AUTO = "auto"
# what is asked of a method, which `auto` would have to guess
_OF_A_METHOD = ("neighbors", "radius", "metric", "search", "drop_short_circuits")
_GROUPS = {
    "Files": ("out", "picture", "color", "label", "model_file", "json_out", "no_overwrite"),
    "Columns": ("columns", "skip", "ids", "keep", "scale", "missing"),
    "Method": ("method", "dim", *_OF_A_METHOD, "settings", "seed"),
    "What some methods use": ("labels", "weight", "distorted", "pair_weights", "affinity"),
    "How a text file is written": ("header", "encoding", "separator", "decimal", "thousands"),
}


def _file(*names: str, metavar: str, words: str, **more: Any) -> Any:
    return click.option(*names, type=click.Path(path_type=Path), metavar=metavar, help=words, **more)


@click.command(cls=grouped(_GROUPS))
@_file("-o", "--out", metavar="FILE", words="Map to write: csv, parquet, npy, …  [default: TABLE.map.csv beside INPUT]")
@_file("--picture", metavar="FILE", words="Also draw the map: png, pdf, svg, …")
@click.option("--color", metavar="COLUMN", help="Column that colours the picture; it is no data.  [default: --labels]")
@click.option("--label", metavar="COLUMN", help="Column whose values are written on the picture; it is no data.")
@_file("--model", "model_file", metavar="FILE", words="Also save all steps, for `gramfold transform`.")
@click.option("--json", "json_out", is_flag=True, help="Print the summary as one JSON object.")
@click.option(
    "-m",
    "--method",
    metavar="NAME",
    type=METHOD_OR_AUTO,
    help="Method, as listed by `gramfold methods`, or auto: what `gramfold advise` says.  [default: auto; isomap if one "
    "of the next options is given]",
)
@click.option(
    "-d",
    "--dim",
    "--n-components",
    "dim",
    metavar="NUMBER",
    help="Number of dimensions; for pca also 0.95 (share of the variance), mle or none (all).  [default: 2, or as "
    "advised]",
)
@click.option("--id", "ids", metavar="COLUMN", help="Column that names the rows; it is written first, and no data.")
@names_option("--keep", "Columns to write beside the coordinates, or all.")
@click.option(
    "--scale",
    type=click.Choice(["auto", "none", "standard", "robust"]),
    default="auto",
    show_default=True,
    help="Divide columns by their standard deviations (or quartiles); auto: where units differ.",
)
@click.option(
    "--missing",
    type=click.Choice(["auto", "error", "drop", "mean", "ppca"]),
    default="auto",
    show_default=True,
    help="Missing values: an error, rows without coordinates, or filled in; auto: from similar rows.",
)
@table_options
@click.option("--labels", metavar="COLUMN", help="Class of each row, for methods that use classes; it is no data.")
@_file(
    "--distorted",
    metavar="FILE",
    words="Table with a distorted version of every row, for oriented_pca; repeatable.",
    multiple=True,
)
@_file(
    "--pair-weights", metavar="FILE", words="Square matrix of weights of pairs of rows, for ordinal_mds; 0: unknown."
)
@_file("--affinity", metavar="FILE", words="Square matrix of edge weights, for lpp and kernel_eigenmaps.")
@_file("--align-to", metavar="MAP", words="Rotate, mirror, scale and shift the map onto this earlier one.")
@_file(
    "--align-rows",
    metavar="TABLE",
    words="Data table of the earlier map, to match rows by equal values.  [default: match by position]",
)
@click.option("--explain", is_flag=True, help="Also say in words which columns the axes of the map stand for.")
@in_sentences
def embed(source: Path, **options: Any) -> None:
    """Embed the rows of a table, or a graph.

    INPUT is a table: csv (also .gz), tsv, xlsx, parquet, feather, npy, npz, h5ad, or a folder of pictures. Text, dates and
    columns that number the rows are left out, units are made alike, gaps are filled in; what was done is printed, with a
    verdict on the map. INPUT may also be a sparse matrix saved with scipy.sparse.save_npz.

    \b
    gramfold embed cells.csv
    gramfold embed cells.csv --picture map.png --color stage --id barcode --out map.csv
    gramfold embed cells.csv -m isomap -k 10 --model cells.gramfold -o map.parquet
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    _Command(source, **options).run()


@dataclass(eq=False)
class _Command:
    """One call of `gramfold embed`: the options, and the steps from the file to the summary."""

    source: Path
    out: Path | None
    picture: Path | None
    color: str | None
    label: str | None
    model_file: Path | None
    json_out: bool
    method: str | None
    dim: str | None
    ids: str | None
    keep: list[str] | None
    scale: str
    missing: str
    columns: list[str] | None
    skip: list[str] | None
    settings: tuple[str, ...]
    weight: str | None
    labels: str | None
    distorted: tuple[Path, ...]
    pair_weights: Path | None
    affinity: Path | None
    align_to: Path | None
    align_rows: Path | None
    explain: bool
    seed: int
    no_overwrite: bool
    quiet: bool

    def __init__(self, source: Path, **options: Any) -> None:
        self.source = source
        for name in self.__dataclass_fields__:
            if name != "source":
                setattr(self, name, options.pop(name))
        self.written = read_options(options)
        self.options = options  # parameters of the method

    def run(self) -> None:
        """Read, map, write, tell."""
        name = self._method()
        squares = {
            key: path
            for key, path in (("pair_weights", self.pair_weights), ("affinity", self.affinity))
            if path is not None
        }
        others = [*self.distorted, *squares.values(), *check_aligned(self.align_to, self.align_rows)]
        require_files(self.source)
        out = map_beside(self.source) if self.out is None else self.out
        replaced = out.exists()
        check_files([self.source, *others], out, self.picture, self.no_overwrite, self.model_file)
        check_colored(self.picture, self.color, self.label)
        fitted = self._mapped(name, squares)
        from gramfold.io import write_table

        names = [str(one) for one in fitted.model.get_feature_names_out()]
        write_table(out, fitted.places, names, ids=fitted.ids, beside=fitted.beside)
        kept(out)
        if self.picture is not None:
            title = f"{type(fitted.model).__name__}: {self.source.name}"
            draw(fitted.places, title, self.picture, fitted.shades, fitted.shades_name, fitted.named)
            kept(self.picture)
        if self.model_file is not None:
            from gramfold.io.model_file import save

            save(fitted.pipeline, self.model_file)
            kept(self.model_file)
        self._tell(fitted, out, replaced)

    def _method(self) -> str:
        """The name of the method, or `auto`; a wrong one is refused before anything is imported."""
        given = [f"--{name.replace('_', '-')}" for name in _OF_A_METHOD if self.options.get(name) is not None]
        given += ["--set"] * bool(self.settings)
        beside = (self.labels, self.weight, self.pair_weights, self.affinity)
        for_some = [*given, *(one for one in beside if one is not None), *self.distorted]
        name = self.method or ("isomap" if for_some else AUTO)
        if name != AUTO:
            full_name(name)
        elif for_some:
            option = given[0] if given else "--labels, --sample-weight and the like"
            raise InputError(
                f"--method auto chooses the method and its parameters: leave out {option}, or name a method, as in "
                "--method isomap."
            )
        return name

    def _mapped(self, name: str, squares: dict[str, Path]) -> "_Mapped":
        parameters: dict[str, Any] = {}
        kind: Any = AUTO
        model = None
        if name != AUTO:
            kind = find_method(name)
            parameters = chosen_parameters(
                kind, {**self.options, "dim": self.dim}, self.settings, self.seed, self._silent
            )
            model = kind(**parameters)
            check_use(model, self.labels, self.distorted, squares)
            check_weighed(model, self.weight)
            check_explained(model, self.explain)
        from gramfold.io import read_columns, read_sparse
        from gramfold.neighbors.metrics import reads_mixed

        sparse = read_sparse(self.source) is not None
        if sparse:
            self._refuse_columns()
        found = None if sparse else read_columns(self.source, **self.written)
        given = model is not None and any(
            model.get_params().get(one) == "precomputed" for one in ("metric", "kernel", "weights")
        )
        if found is None or given or (name == AUTO and _all_distances(found)):
            return self._as_it_is(found, kind, model, squares)
        return self._prepared(found, kind, parameters, squares, reads_mixed(getattr(model, "metric", None)))

    @property
    def _silent(self) -> bool:
        return self.quiet or self.json_out

    def _refuse_columns(self) -> None:
        """Raise an error for options that name a column, of a matrix that has none."""
        named = {"--color": self.color, "--label": self.label, "--id": self.ids, "--keep": self.keep}
        for option, value in named.items():
            if value is not None:
                raise InputError(f"'{self.source}' is a sparse matrix, which has no column names: leave out {option}.")

    def _refuse_preparation(self) -> None:
        for option, value in (("--scale", self.scale), ("--missing", self.missing)):
            if value not in (AUTO, "none", "error"):
                raise InputError(
                    f"'{self.source}' is a sparse matrix, or holds distances or weights of pairs, and no columns to "
                    f"prepare: leave out {option}."
                )

    def _dim(self) -> int | None:
        """The number of dimensions, for a method that is not known yet."""
        if self.dim is None:
            return None
        if not self.dim.isdigit() or int(self.dim) < 1:
            raise InputError(f"--dim {self.dim} is no number of dimensions: use 1, 2, 3, …, or name a method.")
        return int(self.dim)

    def _as_it_is(self, found: "Columns | None", kind: Any, model: Any, squares: dict[str, Path]) -> "_Mapped":
        """A sparse matrix, or one of distances, kernel values or edge weights: it has no columns to prepare."""
        from sklearn.pipeline import make_pipeline

        from gramfold.cli.options import read_matrix, read_square
        from gramfold.cli.table_columns import ids_of, kept_beside, shades_of

        self._refuse_preparation()
        sentences: list[str] = []
        weights = None
        if kind == AUTO:
            from gramfold.onecall.pipelines import Request, plan_for

            table = read_matrix(self.source) if found is None else read_square(self.source, self.written)
            plan = plan_for(table.values, Request(AUTO, {}, self._dim(), "auto", self.seed), {})
            pipeline, sentences = plan.pipeline, list(plan.sentences)
        else:
            pipeline = make_pipeline(model)
            not_data = [one for one in (self.color, self.label, self.ids) if one is not None and found is not None]
            aside = set() if found is None else set(found.aside)
            skip = [*(self.skip or []), *(one for one in not_data if one not in aside and self.columns is None)]
            table, weights = read_weighed(
                self.source, model, self.written, self.columns, skip or None, self.labels, self.weight
            )
        rows = table.values
        *steps, last = [step for _, step in pipeline.steps]
        for step in steps:
            rows = step.fit_transform(rows)
        made = _Mapped(pipeline, last, rows, table, sentences)
        if found is not None:
            made.read = str(found.reading) if _told(found.reading) else None
            made.ids, made.beside = ids_of(found, self.ids), kept_beside(found, self.keep, self.ids)
            made.shades, made.shades_name = shades_of(found, self.color)
            made.named = None if self.label is None else found.words(self.label)
        return self._fitted(made, weights, squares)

    def _prepared(
        self, found: "Columns", kind: Any, parameters: dict[str, Any], squares: dict[str, Path], mixed: bool
    ) -> "_Mapped":
        """A table of columns: some are left out, the others filled in and scaled."""
        import numpy as np

        from gramfold.cli.prepared import prepare
        from gramfold.cli.table_columns import classes_of, frame_of, ids_of, kept_beside, shades_of
        from gramfold.io import Table
        from gramfold.runtime.progress import Stages
        from gramfold.runtime.warning import warn

        ids, beside = ids_of(found, self.ids), kept_beside(found, self.keep, self.ids)
        shades, shades_name = shades_of(found, self.color)
        named = None if self.label is None else found.words(self.label)
        special = [one for one in (self.color, self.label, self.ids, self.labels, self.weight) if one is not None]
        frame = frame_of(found, self.columns, self.skip, special, mixed)
        classes = classes_of(found, self.labels)
        weights = None if self.weight is None else self._weights(found)
        how = {"scale": self.scale, "missing": self.missing, "seed": self.seed, "columns": self.columns}
        if self.distorted and self.scale == AUTO:
            how["scale"] = "none"  # of the rows and their distorted versions alike
        elif self.distorted and self.scale != "none":
            raise InputError("--scale would scale the rows and not their --distorted versions: use --scale none.")
        stages = Stages(not self._silent and sys.stderr is not None and sys.stderr.isatty(), "embed")
        with stages("columns"):
            made = prepare(found, frame, kind, parameters, self._dim() if kind == AUTO else None, how)
        for guess in made.guesses:
            warn(f"{guess[0].upper()}{guess[1:]}. It is left out; --columns with its name keeps it.", GramfoldWarning)
        model = made.model
        if kind == AUTO:
            check_explained(model, self.explain)
            if stages.verbose and "verbose" in model.get_params():
                model.set_params(verbose=1)
        if classes is not None:
            classes = classes[made.known]
        table = Table(made.raw, made.names, self.source, classes, found.reading)
        mapped = _Mapped(made.pipeline, model, made.rows, table, list(made.sentences))
        mapped.read = str(found.reading) if _told(found.reading) else None
        mapped.known = None if made.known.all() else np.asarray(made.known)
        mapped.ids, mapped.beside, mapped.shades, mapped.shades_name, mapped.named = (
            ids,
            beside,
            shades,
            shades_name,
            named,
        )
        if weights is not None:
            weights = weights[made.known]
        return self._fitted(mapped, weights, squares)

    def _weights(self, found: "Columns") -> Any:
        if self.weight == self.labels:
            raise InputError(f"column '{self.weight}' cannot be both --labels and --sample-weight: name two columns.")
        if self.columns is not None and self.weight in self.columns:
            raise InputError(f"column '{self.weight}' holds weights and is not data: leave it out of --columns.")
        return found.numbers([str(self.weight)])[:, 0]

    def _fitted(self, made: "_Mapped", weights: Any, squares: dict[str, Path]) -> "_Mapped":
        """Fit the method, the last step."""
        import numpy as np

        from gramfold.cli.trust import scales_told_by_name

        beside = read_beside(made.table, self.distorted, self.written, squares)
        missing = made.model.__sklearn_tags__().input_tags.allow_nan
        old = read_old_map(made.table, self.align_to, self.align_rows, self.written, missing)
        given = {} if weights is None else {"sample_weight": weights}
        started = time.perf_counter()
        with scales_told_by_name():
            made.coordinates = made.model.fit_transform(made.rows, **beside, **given)
        made.seconds = time.perf_counter() - started
        made.aligned = made.model if old is None else old.align(made.model)
        made.places = made.aligned.embedding_
        if made.known is not None:
            made.places = np.full((len(made.known), made.coordinates.shape[1]), np.nan)
            made.places[made.known] = made.aligned.embedding_
        if made.shades is None and made.table.labels is not None and made.known is None:
            made.shades, made.shades_name = made.table.labels, self.labels
        used = [*account_of(made.table, self.labels, self.distorted, beside), *account_of_weights(weights, self.weight)]
        made.used, made.aligned_lines = used, aligned_account(old, made.aligned)
        return made

    def _tell(self, made: "_Mapped", out: Path, replaced: bool) -> None:
        """Print the summary, in lines or as JSON."""
        from gramfold.cli.map_summary import account, headline
        from gramfold.cli.trust import loud_lines, trust_in

        model, rows, names = made.model, made.rows, made.names
        option = " (--scale standard does)" if made.prepared else ""
        scales = loud_lines(model, rows, names, self._silent, self.affinity is not None, option)
        if not self.quiet or self.json_out:
            trust = trust_in(model, rows, made.coordinates, names)
        explained = explained_lines(made.aligned, made.explainable) if self.explain else []
        files = {"map": out, "picture": self.picture, "model": self.model_file}
        if self.json_out:
            told = {
                "input": str(self.source),
                "read_as": made.read_as,
                "method": type(model).__name__,
                "parameters": {key: _plain(value) for key, value in model.get_params().items()},
                "rows": int(made.places.shape[0]),
                "rows_without_coordinates": int((made.places != made.places).any(axis=1).sum()),
                "columns": names,
                "dimensions": int(made.places.shape[1]),
                "seconds": made.seconds,
                "decisions": made.sentences,
                **trust.numbers,
                "axes": explained,
                **{key: None if path is None else str(path.absolute()) for key, path in files.items()},
            }
            click.echo(json.dumps(_finite(told), ensure_ascii=False, indent=2, default=str))
            return
        if not self.quiet:
            click.echo(headline(model, rows, made.seconds))
            decided = [] if made.read is None else [f"read      {made.read}"]
            decided += [_line(sentence) for sentence in made.sentences if self.method in (None, AUTO) or _new(sentence)]
            lines = [*decided, *made.used, *account(model, made.coordinates), *trust.lines, *scales]
            for line in [*lines, *made.aligned_lines]:
                click.echo(f"  {line}")
        for line in explained:
            click.echo(f"  {line}")
        if not self.quiet:
            for what, path in files.items():
                if path is not None:
                    again = " (the earlier one is replaced)" if what == "map" and replaced and self.out is None else ""
                    click.echo(f"  {what:<9} {path.absolute()}{again}")


@dataclass(eq=False)
class _Mapped:
    """A map, the rows it was made of, and what is written beside it."""

    pipeline: Any
    model: Any
    rows: Any  # as the method saw them
    table: "Table"  # as they were measured
    sentences: list[str]
    read: str | None = None  # how INPUT was read, where that is worth a line
    known: Any = None  # rows of INPUT that have coordinates; None: all
    ids: Any = None
    beside: Any = None
    shades: Any = None
    shades_name: str | None = None
    named: Any = None
    coordinates: Any = None  # of the rows that were mapped
    aligned: Any = None
    places: Any = None  # of all rows
    seconds: float = 0.0
    used: Any = ()
    aligned_lines: Any = ()

    @property
    def prepared(self) -> bool:
        """Whether columns could be scaled."""
        return bool(self.table.names) and len(self.pipeline) > 1

    @property
    def names(self) -> list[str]:
        """Of the columns that the method saw."""
        return self.table.names if self.rows.shape[1] == len(self.table.names) else []

    @property
    def explainable(self) -> "Table":
        """The rows as the method saw them, with the names of their columns."""
        from dataclasses import replace

        return replace(self.table, values=self.rows)

    @property
    def read_as(self) -> str | None:
        """How INPUT was read."""
        return None if self.table.reading is None else str(self.table.reading)


def _told(reading: Any) -> bool:
    """Whether something about a file was guessed that its user may not expect."""
    return reading.unusual or reading.compression is not None or reading.separator not in (None, ",")


def _line(sentence: str) -> str:
    """A sentence of a plan as a line of the summary."""
    name, _, words = sentence.partition(": ")
    words = f"{words} (--scale none keeps the units)" if name == "scaling" else words
    return f"{name:<9} {words}"


def _new(sentence: str) -> bool:
    """Whether a sentence says more than the headline."""
    return not sentence.startswith("method: ")


def _all_distances(found: "Columns") -> bool:
    """Whether a table is square, of numbers, and a matrix of distances."""
    width = len(found.names) - len(found.aside)
    if found.n_rows != width or any(found.kind(j) != "number" for j in range(width)):
        return False
    from gramfold.advice.looks import is_distances

    return is_distances(found.numbers())


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)


def _finite(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have."""
    from math import isfinite

    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
