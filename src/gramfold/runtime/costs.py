"""Measured costs of the algorithms, by which one is chosen over another.

They decide which algorithm runs, not what it computes. Every function that chooses takes `costs` and passes it on.
Times are approximate seconds on one core; only their ratios matter.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class DirectCosts:
    """The fill-reducing order, the elimination and the factor."""

    # A separator of n points of a sheet takes about √n of them (0.3 to 1.2 on rolls and spheres; 4 to 6 in a cube).
    sheet: float = 2.0
    # Operations for each n^1.5: 3 to 8 on sheets, 100 and more in cubes.
    sheet_operations: float = 30.0
    # Minimum degree orders by factoring. Up to so many rows and edges of each that is a moment, and all that is needed.
    few_rows: int = 3_000
    few_edges: int = 40
    # It saves a tenth of the fill of a sheet, worth it where it is quick. Beyond the other sizes it would cost more
    # than a better order saves.
    quick_rows: int = 20_000
    minimum_degree_rows: int = 200_000
    minimum_degree_operations: float = 2e10
    # Multiplications that a subtree takes at least; what is not worth a thread goes with the top of the tree.
    least_subtree: float = 1e5


@dataclass(frozen=True)
class GeodesicCosts:
    """Shortest paths by elimination or by Dijkstra; about what rolls and Fashion-MNIST of 10,000 rows took."""

    filled_entry: float = 0.75e-9  # of the filled structure for one source, up and down
    settled_entry: float = 0.45e-9  # the same between all vertices, for each later vertex
    eliminated_pair: float = 0.35e-9  # of later neighbours in the elimination
    walked_edge: float = 18e-9  # stored, in Dijkstra's algorithm for one source
    cached_vertices: float = 1e6  # at this size nearly every edge is a cache miss, and costs twice as much
    # Of n²: between all vertices, the filled structure must stay small beside the result.
    most_fill_share: float = 1 / 8


@dataclass(frozen=True)
class EigenCosts:
    """Eigenpairs: dense, through a factor, or by products."""

    dense_rows: int = 300  # up to which LAPACK finds a few eigenpairs of a penalty as fast as a sparse factor does …
    dense_gram_rows: int = 250  # … and of a Gram matrix as fast as products do
    # Rows, and entries of each, up to which SuperLU orders and factorises a penalty in a moment: 3 to 20 ms at 2,000.
    small_rows: int = 3_000
    small_entries: int = 100
    all_rows: int = 2_000  # up to which all eigenvalues are computed before a repair, for their negative mass (0.5 s)
    # Of all entries: of a matrix that holds more the factor is nearly full in whatever order.
    full_share: float = 1 / 8
    factored_pair: float = 0.35e-9  # a multiplication in the factorisation
    full_pair: float = 0.1e-9  # the same in LAPACK, which treats the matrix as dense
    multiplied_entry: float = 1.5e-9  # an entry in a product with the matrix
    short: float = 2.0  # a factorisation of so few seconds is not worth avoiding ...
    products: int = 2_000  # ... nor one that costs less than this many products, which is also as far as they are tried
    entries_per_row: int = 100  # of a sparse factor
    bytes_per_entry: int = 14  # of a factor: its value, its structure, and what finding that takes
    # SuperLU takes some tenths of a second, less than it takes to compile our own factorisation.
    superlu_operations: float = 2e8


@dataclass(frozen=True)
class UnfoldingCosts:
    """The semidefinite programs of SDE."""

    long: float = 600.0  # seconds that "auto" may be predicted to take before it chooses a faster solver
    # Exact and slack forms: seconds of the dense solver below which it is chosen, and a tolerance that is left to it.
    short: float = 60.0
    fine: float = 1e-5
    usual_newton_steps: int = 130
    # For forecasts of the low-rank method: of time, and of memory.
    usual_rank: int = 5
    high_rank: int = 9
    usual_iterations: int = 25
    bytes_per_number: float = 12.0  # of the factor: 8, and what else is held: 0.41 GB at rank 9 where 8 predicted 0.29
    multiplications: float = 2.4e9  # a second, where much fills in
    vertex: float = 2e-5  # in an iteration


@dataclass(frozen=True)
class SearchCosts:
    """Neighbours: which search is chosen, its plan, and its block sizes.

    A cost is in multiplications inside of a product of matrices (0.025 ns each).
    """

    # Which search.
    tree_columns: int = 15  # beyond, a k-d tree visits nearly all of its leaves
    # What the approximate search costs a row, and more for each column: 270 µs were measured at 50 columns, 690 at 784.
    approximate_row: float = 1e7
    approximate_column: float = 2e4

    # What a pair of rows costs.
    look: float = 60.0  # to look at its product and to keep the nearest
    alone: float = 1_000.0  # to compute its product by itself, …
    alone_column: float = 6.0  # … and more for each column
    loose: float = (
        2.0  # factor on the share of pairs left in a sample: either row may need a pair, and radii are large at first
    )
    dense: float = 0.12  # share of pairs left above which all products together cost less than these alone

    # What is worth the trouble.
    least_work: float = 4e10  # multiplications, below which planning takes longer than it may save
    many: int = 500  # new rows that are worth a copy of all rows in float32
    first_look: int = 16  # neighbours searched first for the shortest bridge from a component to another

    # How much at once.
    rows_per_tile: int = 1_000  # products of two tiles stay in the cache while they are looked at
    asking_per_tile: int = 320  # of new rows, so that there is work for all threads
    entries_per_block: int = 2_000_000  # of a block of distances: 16 MB, some 20 ms of work
    queries_per_block: int = 100_000  # of a tree, between two steps of its progress bar
    tied_per_block: int = 1_000


@dataclass(frozen=True)
class Costs:
    """Costs of all algorithms."""

    search: SearchCosts = field(default_factory=SearchCosts)
    direct: DirectCosts = field(default_factory=DirectCosts)
    geodesics: GeodesicCosts = field(default_factory=GeodesicCosts)
    eigen: EigenCosts = field(default_factory=EigenCosts)
    unfolding: UnfoldingCosts = field(default_factory=UnfoldingCosts)


COSTS = Costs()
