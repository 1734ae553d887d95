"""Parameters and fitted attributes of a clustering."""

from numbers import Integral
from typing import Literal

from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import attribute, method, parameter
from gramfold.methods.spectral_clustering.assign import Assign


@method
class Clustering:
    """The number of clusters, and how coordinates become clusters."""

    n_clusters: int | Literal["auto"] = parameter(
        default="auto",
        allowed=[Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        words="""Number of clusters. "auto": the number k, up to `max_clusters`, with the largest ratio
        r_k = λ_{k+1} / λ_k of consecutive eigenvalues, provided that r_k > 2 and that log r_k > 3 log r_j for every
        later j; otherwise the number of connected components.""",
        kw_only=False,
    )
    max_clusters: int = parameter(
        default=10,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words='Maximum number of clusters for n_clusters="auto".',
    )
    assign: Assign = parameter(
        default="kmeans",
        allowed=[StrOptions({"kmeans", "qr", "threshold"})],
        words="""How the rows of the spectral embedding are assigned to clusters. "kmeans": k-means. "qr": pivoted QR,
        which is not random. "threshold": for two clusters, the threshold on the second eigenvector with the smallest
        normalised cut.""",
    )

    labels_ = attribute(
        "ndarray of int",
        """Cluster of each row, numbered as they first occur; −1 for rows that are in no cluster
        (on_disconnected="largest").""",
    )
    n_clusters_ = attribute("int", "Number of clusters.")
    eigenvalues_ = attribute(
        "ndarray",
        """The smallest eigenvalues of the normalised Laplacian, ascending. There is a 0 for each connected component;
        with n_clusters="auto" there are two more eigenvalues than `max_clusters`.""",
    )
    gap_ = attribute(
        "float or None",
        """Eigengap (λ_{k+1} − λ_k) / λ_{k+1} at the number k of clusters, near 1 if they are well separated. None if
        λ_{k+1} was not computed, or if there is only one cluster.""",
    )
    cut_ = attribute(
        "float", "Normalised cut: the sum over the clusters of the share of their edge weight that leaves the cluster."
    )
    embedding_ = attribute(
        "ndarray of shape (n_samples, n_clusters) or None",
        """The spectral embedding that was clustered: an axis for each connected component, then eigenvectors. None if
        the connected components are the clusters, so that no eigenvectors were computed.""",
    )
    spectrum_ = attribute(
        "Spectrum or None",
        """The computed eigenvalues and eigenvectors, without the null vectors of the connected components, and their
        residuals. None if no eigenvectors were computed.""",
    )
