"""Spectral clustering: the neighbour graph cut where it holds together least.

    Ncut = Σ_j cut(A_j, rest) / vol(A_j), relaxed:  L y = λ D y;  the first n_clusters eigenvectors are a map,
    and its rows are clustered by k-means, by pivoted QR, or (two clusters) by the threshold of least Ncut
    pieces of the graph are null vectors: known without solving, and clusters of their own
    number k: where the step λ_{k+1} / λ_k is largest, if it is larger than those of a shape without clusters

Shi, Malik, IEEE PAMI 22 (2000); Ng, Jordan, Weiss, NIPS 14 (2002); von Luxburg, Statistics and Computing 17 (2007);
Burges, section 2.5.2.
"""

from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import EdgeWeights, Estimator, Fit, attribute, method, parameter
from gramfold.errors import InputError
from gramfold.graph.affinity import check_width, width_of_rows
from gramfold.graph.connect import OnDisconnected
from gramfold.graph.cut import normalized_cut
from gramfold.graph.neighbor_graph import graph_memory
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
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Integers


@method
class SpectralClustering(EdgeWeights, Clustering, ClusterMixin, Estimator):
    """Clusters of a neighbour graph by its normalised cut.

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
        words="""What to do when the graph falls into more pieces than clusters (fewer are no matter: pieces are
        clusters, and are divided further): give the smallest to their nearest others, keep the largest and label the
        rest −1, let each be a cluster, or refuse.""",
    )
    unit_ = attribute(
        "float",
        """What `graph_`, `width_` and the like are measured in: 1, or the power of two that brings rows of a very small
        or large size to one whose squares are numbers.""",
        lambda model: float(model.net.unit.size),
    )

    def _build(self, fit: Fit) -> Clusters:
        self._check(fit)
        degree = fit.degree(self)
        fit.forecast(lambda n, _: self._memory(n, degree), others="and label the others with predict()")
        net = fit.neighbors(self, check=self._check_clusters)
        with fit.stages("graph"):
            graph = net.whole()
            width = net.edge_width((graph,), self.weights, self.width)
            why = "that max_clusters allows" if self.n_clusters == "auto" else "asked for"
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
        """More clusters than components: eigenvectors divide these further."""
        weights, multiplicity, auto = edges.weights(), edges.graph.multiplicity, self.n_clusters == "auto"
        kernel = component_kernel(weights, multiplicity, component)
        n, count = kernel.null.shape
        with fit.stages("spectrum"):
            spectrum = leading_spectrum(kernel, min(self._most - count + (LATER if auto else 0), n - count))
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
                rule = qr_rule(places, kernel.mass)
            else:
                rule = kmeans_rule(places, multiplicity, clusters, fit.rng)
            assignment = numbered(rule, places)
            labels = assignment(places)
            cut = normalized_cut(weights, labels)
        division = Division(component, places, eigenvalues[:clusters], assignment)
        return Partition(labels, eigenvalues, cut, eigengap(eigenvalues, clusters), spectrum, division)

    @property
    def _most(self) -> int:
        """Clusters at most."""
        return self.max_clusters if self.n_clusters == "auto" else int(self.n_clusters)

    def _memory(self, n: int, degree: int) -> float:
        # twice the eigenvectors for Lanczos, and the map
        return graph_memory(n, degree) + 24.0 * n * min(n, self._most + 1)

    # --- what cannot be done

    def _check(self, fit: Fit) -> None:
        fit.check_neighborhood(self)
        check_width(self.weights, self.width)
        if self.assign == "threshold" and self.n_clusters != 2:
            raise InputError(
                f"assign='threshold' cuts the graph in two and n_clusters={self.n_clusters!r}: use n_clusters=2, or "
                "assign='kmeans' or 'qr'."
            )

    def _check_clusters(self, n: int) -> None:
        if self.n_clusters != "auto" and self.n_clusters > n:
            raise InputError(
                f"n_clusters={self.n_clusters} and there are {n} distinct rows, which cannot be in more clusters than "
                f"that: use n_clusters <= {n}."
            )

    # --- new rows

    def predict(self, X: Any) -> Integers:
        """The clusters of new rows.

        A new row gets edges by the rule of the fitted graph, from them a place on the map, and there the cluster that
        the same rule gives.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New rows; with ``"precomputed"``, their distances to the training rows.

        Returns
        -------
        labels : ndarray of int of shape (n_new,)
            Their clusters; under on_disconnected="largest", −1 where a row belongs to a piece that was left out or
            is out of everybody's reach.
        """
        clusters, rows = self._read(X)
        return np.asarray(clusters.predict(rows))

    def score(self, X: Any, y: Any = None) -> float:
        """How much of the rows' ties stays within their clusters, between 0 and 1.

        The share of a row's edge weight that goes to training rows of the cluster that `predict` gives it, its mean
        over the rows. Edges follow the rule of the fitted graph, as for `predict`; training rows have those of the
        graph itself. A row that is in no cluster (label −1) keeps nothing, one without any edge everything.

        More clusters cut more edges, and one cluster scores 1: the score compares clusterings into equally many
        clusters. How many there are it cannot tell; `n_clusters="auto"` and `gap_` do.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to label and judge; with ``"precomputed"``, their distances to the training rows.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        share : float
            1 where no edge leaves its cluster.
        """
        clusters, rows = self._read(X)
        return float(clusters.score(rows))
