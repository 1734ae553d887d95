"""Spectral clustering: a small normalised cut of the neighbour graph.

    Ncut = Σ_j cut(A_j, rest) / vol(A_j), relaxed:  L y = λ D y;  the first n_clusters eigenvectors are a map,
    and its rows are clustered by k-means, by pivoted QR, or (two clusters) by the threshold of least Ncut
    connected components are null vectors, known without solving, and clusters of their own
    number k: where the ratio λ_{k+1} / λ_k is largest, if it is larger than those of a shape without clusters

Shi, Malik, IEEE PAMI 22 (2000); Ng, Jordan, Weiss, NIPS 14 (2002); von Luxburg, Statistics and Computing 17 (2007);
Burges 2005, section 2.5.2.
"""

from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import SAMPLE, EdgeWeights, Estimator, Fit, attribute, method, parameter
from gramfold.errors import InputError
from gramfold.graph.affinity import check_width, width_of_rows
from gramfold.graph.connect import OnDisconnected
from gramfold.graph.cut import normalized_cut
from gramfold.graph.laplacian import degrees
from gramfold.graph.neighbor_graph import graph_memory
from gramfold.kernels.localization import warn_of_localized
from gramfold.kernels.penalty import leading_penalties
from gramfold.kernels.regularized import default_tau
from gramfold.methods.spectral_clustering.assign import (
    LargestEntry,
    Rule,
    kmeans_rule,
    numbered,
    qr_rule,
    threshold_rule,
)
from gramfold.methods.spectral_clustering.clusters import Clusters, Edges
from gramfold.methods.spectral_clustering.eigengap import LATER, eigengap, number_of_clusters
from gramfold.methods.spectral_clustering.few_components import few_components
from gramfold.methods.spectral_clustering.partition import Division, Partition, component_kernel, into_components
from gramfold.methods.spectral_clustering.settings import Clustering
from gramfold.neighbors.partitioned import is_partitioned
from gramfold.types import Integers


@method
class SpectralClustering(EdgeWeights, Clustering, ClusterMixin, Estimator):
    """Spectral clustering: clusters of small normalised cut in the neighbour graph.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import SpectralClustering
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = SpectralClustering(n_clusters=2, n_neighbors=5).fit(np.vstack([ring, 3 * ring]))
    >>> np.bincount(model.labels_)
    array([100, 100])
    >>> model.predict([[1.1, 0.0], [0.0, 2.8]])
    array([0, 1])
    """

    on_disconnected: OnDisconnected = parameter(
        default="bridge",
        allowed=[StrOptions({"bridge", "largest", "separate", "error"})],
        words="""What to do if the graph has more connected components than clusters. "bridge": merge each of
        the smallest components with its nearest component. "largest": keep the largest, and label the rows of the
        others −1. "separate": make each component a cluster. "error": raise an error. If there are fewer components
        than clusters, they are divided.""",
    )
    sample_ = SAMPLE
    unit_ = attribute(
        "float",
        """Scale of the rows: `graph_`, `neighbors_` and `width_` are for X / unit_. It is 1, or a power of two if
        squares of the values would underflow or overflow.""",
        lambda model: float(model.net.unit.size),
    )

    def _build(self, fit: Fit) -> Clusters:
        self._check(fit)
        degree = fit.degree(self)
        fit.forecast(lambda n, _: self._memory(n, degree), others="and label the others with predict()")
        net = fit.neighbors(self, check=self._check_clusters)
        with fit.stages("graph"):
            net = fit.without_dropped(net, self)
            graph = net.whole()
            width = net.edge_width((graph,), self.weights, self.width)
            why = "max_clusters" if self.n_clusters == "auto" else "n_clusters"
            component = few_components(graph, net, self._most, why)
        edges = Edges(graph, width, self.width == "self-tuning")
        enough = component.max() + 1 >= min(self._most, len(graph))
        partition = into_components(component) if enough else self._divide(edges, component, fit)
        return Clusters(
            name=fit.name,
            reads=fit.reads,
            columns=fit.columns,
            timings=fit.stages.seconds,
            found={
                "width_": width_of_rows(width, net.copies.vertex),
                **partition.by_row(net.copies.vertex, fit.X.dtype),
            },
            net=net,
            edges=edges,
            labels=partition.labels,
            division=partition.division,
        )

    def _divide(self, edges: Edges, component: Integers, fit: Fit) -> Partition:
        """Divide components into more clusters by eigenvectors."""
        weights, multiplicity, auto = edges.weights(), edges.graph.multiplicity, self.n_clusters == "auto"
        n, count = len(component), int(component.max()) + 1
        with fit.stages("spectrum"):
            wanted = min(self._most - count + (LATER if auto else 0), n - count)
            kernel = component_kernel(weights, multiplicity, component, self.loose_rows, wanted)
            spectrum = leading_penalties(kernel, wanted)
            assert spectrum.penalties is not None
            eigenvalues = np.concatenate([np.zeros(count), spectrum.penalties])
            clusters = number_of_clusters(eigenvalues, count) if auto else self._most
        with fit.stages("assignment"):
            places = np.hstack([kernel.null, spectrum.eigenvectors[:, : clusters - count]])  # (n, clusters)
            if clusters == count:
                rule: Rule = LargestEntry(np.eye(clusters))
            elif self.assign == "threshold":
                rule = threshold_rule(places, weights)
            elif self.assign == "qr":
                rule = qr_rule(places, kernel.mass)  # without mass, no pivot
            else:
                rule = kmeans_rule(places, np.where(kernel.mass > 0, multiplicity, 0.0), clusters, fit.rng)
            assignment = numbered(rule, places)
            labels = assignment(places)
            cut = normalized_cut(weights, labels)
        division = Division(component, places, eigenvalues[:clusters], assignment)
        if self.loose_rows == "regularize":
            inside = multiplicity[:, None] * (kernel.null > 0)
            centers = (inside.T @ places) / inside.sum(axis=0)[:, None]
            division = replace(division, tau=default_tau(degrees(weights), multiplicity), centers=centers)
        loose = kernel.mass == 0 if self.loose_rows == "trim" else None
        shown = spectrum.eigenvectors[:, : clusters - count]
        others = {"keep": "loose_rows='trim' or 'regularize'", "regularize": "loose_rows='trim'"}
        warn_of_localized(weights, edges.graph, shown, others.get(self.loose_rows, "more neighbours"))
        return Partition(labels, eigenvalues, cut, eigengap(eigenvalues, clusters), spectrum, division, loose)

    @property
    def _most(self) -> int:
        """Maximum number of clusters."""
        return self.max_clusters if self.n_clusters == "auto" else int(self.n_clusters)

    def _memory(self, n: int, degree: int) -> float:
        # twice the eigenvectors for Lanczos, and the map
        return graph_memory(n, degree) + 24.0 * n * min(n, self._most + 1)

    # --- what cannot be done

    def _check(self, fit: Fit) -> None:
        fit.check_neighborhood(self)
        check_width(self.weights, self.width)
        if self.loose_rows == "regularize" and self.n_clusters == "auto":
            raise InputError(
                "n_clusters='auto' compares eigenvalues, which regularisation makes alike, so loose_rows='regularize' "
                "cannot find a number of clusters: give n_clusters, or use loose_rows='trim'."
            )
        if self.assign == "threshold" and self.n_clusters != 2:
            raise InputError(
                f"assign='threshold' makes two clusters, but n_clusters={self.n_clusters!r}: use n_clusters=2, or "
                "assign='kmeans' or 'qr'."
            )

    def _check_clusters(self, n: int) -> None:
        if self.n_clusters != "auto" and self.n_clusters > n:
            raise InputError(
                f"n_clusters={self.n_clusters} is more than the {n} distinct rows of X: use n_clusters <= {n}."
            )

    # --- new rows

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> Integers:
        """Fit the model to the rows of X and return their clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            Not used, present for API consistency with scikit-learn.
        **fit_params : dict
            Further arguments of `fit`.

        Returns
        -------
        labels : ndarray of int of shape (n_samples,)
            `labels_`.
        """
        self.fit(X, y, **fit_params)
        return self.predict(X) if is_partitioned(X) else self.labels_.copy()

    def predict(self, X: Any) -> Integers:
        """Predict the clusters of new rows.

        A new row is joined to training rows by the rule of the fitted graph, embedded by these edges, and assigned to a
        cluster by the fitted rule (`assign`). A training row keeps its cluster.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New rows; with ``"precomputed"``, their distances to, or weights with, the training rows.

        Returns
        -------
        labels : ndarray of int of shape (n_new,)
            Cluster of each row. With on_disconnected="largest", −1 for rows that belong to a connected component
            without a cluster, or that have no neighbour among the training rows.
        """
        if is_partitioned(X):
            from gramfold.distributed import place_partitions

            return cast(Integers, place_partitions(self, "predict", X))
        clusters, rows = self._read(X)
        with self._stage("predict"):
            return np.asarray(clusters.predict(rows))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean share of the edge weight of each row that stays within its cluster, between 0 and 1.

        For each row, the edge weight to training rows of the cluster that `predict` returns for it, divided by its
        total edge weight. New rows have edges by the rule of the fitted graph, training rows those of the graph. The
        share is 0 for a row in no cluster (label −1), and 1 for a row without edges.

        More clusters cut more edges, and a single cluster scores 1. So the score compares clusterings with the same
        number of clusters; to find the number, use `n_clusters="auto"` or `gap_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; with ``"precomputed"``, their distances to, or weights with, the training rows.
        y : ignored
            Not used, present for API consistency with scikit-learn.

        Returns
        -------
        share : float
            Mean share; 1 if no edge joins different clusters.
        """
        clusters, rows = self._read(X)
        return float(clusters.score(rows))
