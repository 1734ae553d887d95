"""What a clustering of a map is asked for, and what it finds: fields and nothing else."""

from numbers import Integral
from typing import Literal

from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import attribute, method, parameter
from gramfold.methods.spectral_clustering.assign import Assign


@method
class Clustering:
    """How many clusters there are, and how places on a map become clusters."""

    n_clusters: int | Literal["auto"] = parameter(
        default="auto",
        allowed=[Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        words="""Number of clusters; "auto" takes the number, up to `max_clusters`, after which the eigenvalues make
        their largest step, if it stands out, and else that of the graph's pieces.""",
        kw_only=False,
    )
    max_clusters: int = parameter(
        default=10, allowed=[Interval(Integral, 1, None, closed="left")], words='The most that "auto" finds.'
    )
    assign: Assign = parameter(
        default="kmeans",
        allowed=[StrOptions({"kmeans", "qr", "threshold"})],
        words="""How the rows of the map become clusters: k-means; pivoted QR, which draws nothing at random; or, for
        two clusters, the threshold on the second eigenvector that has the least normalised cut.""",
    )

    labels_ = attribute(
        "ndarray of int",
        """The cluster of each row, numbered as they first occur; −1 for rows left out
        (on_disconnected="largest").""",
    )
    n_clusters_ = attribute("int", "How many there are.")
    eigenvalues_ = attribute(
        "ndarray",
        """The smallest eigenvalues of the normalised Laplacian that were needed, ascending: a 0 for each piece of the
        graph, and under "auto" two more than `max_clusters`.""",
    )
    gap_ = attribute(
        "float or None",
        """(λ_{k+1} − λ_k) / λ_{k+1} at the number k of clusters: near 1 where they are far apart. None where the next
        eigenvalue was not needed, and where there is one cluster, which is apart from nobody.""",
    )
    cut_ = attribute("float", "Normalised cut of the clusters: the sum of the shares of their edges that leave them.")
    embedding_ = attribute(
        "ndarray of shape (n_samples, n_clusters) or None",
        """The map whose rows were clustered: an axis for each piece of the graph, then eigenvectors. None where pieces
        are the clusters and nothing had to be solved.""",
    )
    spectrum_ = attribute("Spectrum or None", "The eigenvectors beyond the pieces' own, with residuals; None likewise.")
