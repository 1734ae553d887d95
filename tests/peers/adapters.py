"""gramfold's classes under scikit-learn's names, parameters and attributes. They translate, and mend nothing.

What has no counterpart is left out: gramfold chooses eigensolvers, tree searches and ways to walk by itself.
"""

from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state

import gramfold
from gramfold.graph.affinity import affinity
from gramfold.graph.build import build_graph
from gramfold.graph.connect import components
from gramfold.kernels.reconstruction import weight_matrix
from gramfold.neighbors.precomputed import GraphIndex
from gramfold.neighbors.search import build_index

__all__ = [
    "Isomap",
    "KernelPCA",
    "LocallyLinearEmbedding",
    "SpectralEmbedding",
    "_graph_connected_component",
    "_graph_is_connected",
    "barycenter_kneighbors_graph",
    "locally_linear_embedding",
    "spectral_embedding",
]


class Adapter(ClassNamePrefixFeaturesOutMixin, BaseEstimator):
    """Holds a gramfold model, made in `fit` by `_model`; what it does not know itself it asks the model for."""

    def fit(self, X, y=None):
        self.model_ = self._model(X).fit(self._rows(X))
        return self

    def fit_transform(self, X, y=None):
        self.fit(X)
        return self.model_.embedding_

    def transform(self, X):
        return self.model_.transform(X)

    def _rows(self, X):
        return X

    @property
    def _n_features_out(self):
        return self.model_.embedding_.shape[1]

    def __getattr__(self, name):
        if name.startswith("__") or name == "model_":
            raise AttributeError(name)
        return getattr(self.model_, name)


class Isomap(Adapter):
    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=None,
        n_components=2,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        path_method="auto",
        neighbors_algorithm="auto",
        n_jobs=None,
        metric="minkowski",
        p=2,
        metric_params=None,
    ):
        keep(self, locals())

    def _model(self, X):
        params = {"p": self.p} if self.metric == "minkowski" else {}
        return gramfold.Isomap(
            self.n_components,
            **({} if self.n_neighbors is None else {"n_neighbors": self.n_neighbors}),
            radius=self.radius,
            metric="cityblock" if self.metric == "manhattan" else self.metric,
            metric_params={**params, **(self.metric_params or {})} or None,
            n_jobs=self.n_jobs,
        )

    @property
    def dist_matrix_(self):
        rows = self.kernel_.rows
        return np.sqrt(self.kernel_.array[np.ix_(rows, rows)])

    @property
    def nbrs_(self):
        return SimpleNamespace(n_neighbors=int(self.neighbors_.counts.max()))

    def reconstruction_error(self):
        K = self.kernel_.dense()
        return np.sqrt((K**2).sum() - (self.spectrum_.eigenvalues**2).sum()) / len(K)


class LocallyLinearEmbedding(Adapter):
    CLASSES = {  # noqa: RUF012
        "standard": gramfold.LLE,
        "modified": gramfold.ModifiedLLE,
        "hessian": gramfold.HessianLLE,
        "ltsa": gramfold.LTSA,
    }

    def __init__(
        self,
        *,
        n_neighbors=5,
        n_components=2,
        reg=1e-3,
        eigen_solver="auto",
        tol=1e-6,
        max_iter=100,
        method="standard",
        hessian_tol=1e-4,
        modified_tol=1e-12,
        neighbors_algorithm="auto",
        random_state=None,
        n_jobs=None,
    ):
        keep(self, locals())

    def _model(self, X):
        return self.CLASSES[self.method](
            self.n_components,
            self.n_neighbors,
            reg=self.reg,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    @property
    def reconstruction_error_(self):
        return self.spectrum_.penalties.sum()


def locally_linear_embedding(X, **params):
    model = LocallyLinearEmbedding(**params).fit(X)
    return model.embedding_, model.reconstruction_error_


def barycenter_kneighbors_graph(X, n_neighbors, reg=1e-3, n_jobs=None):
    index, _ = build_index(
        X,
        metric="euclidean",
        metric_params=None,
        search="auto",
        n_neighbors=n_neighbors,
        radius=None,
        n_jobs=n_jobs,
        random_state=check_random_state(0),
    )
    vertices = np.arange(len(X))
    return weight_matrix(index.own(n_neighbors, None), index.vertex_grams(vertices), reg, X.shape[1], n_jobs)


class KernelPCA(Adapter):
    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        n_jobs=None,
    ):
        keep(self, locals())

    def _model(self, X):
        n, columns = X.shape if hasattr(X, "shape") else np.shape(X)
        return gramfold.KernelPCA(
            n - 1 if self.n_components is None else self.n_components,
            kernel=self.kernel,
            gamma=1 / columns if self.gamma is None else self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            inverse="ridge" if self.fit_inverse_transform else "auto",
            n_jobs=self.n_jobs,
        )

    def _kept(self, places):
        """All directions of zero variance are left out where no number was asked for, or where it was asked to."""
        if self.n_components is not None and not self.remove_zero_eig:
            return places
        return places[:, np.flatnonzero(self.model_.embedding_.any(axis=0))]

    def fit_transform(self, X, y=None):
        self.model_ = self._model(X)
        return self._kept(self.model_.fit_transform(X))

    def transform(self, X):
        return self._kept(self.model_.transform(X))

    @property
    def eigenvalues_(self):
        return self.spectrum_.eigenvalues

    @property
    def eigenvectors_(self):
        return self.spectrum_.eigenvectors

    def __sklearn_tags__(self):
        return gramfold.KernelPCA(kernel=self.kernel).__sklearn_tags__()


class SpectralEmbedding(Adapter):
    def __init__(
        self,
        n_components=2,
        *,
        affinity="nearest_neighbors",
        gamma=None,
        random_state=None,
        eigen_solver=None,
        eigen_tol="auto",
        n_neighbors=None,
        n_jobs=None,
    ):
        keep(self, locals())

    def _model(self, X):
        n, columns = X.shape
        params = {"n_components": self.n_components, "random_state": self.random_state, "n_jobs": self.n_jobs}
        if self.affinity == "rbf":
            gamma = 1 / columns if self.gamma is None else self.gamma
            params |= {"n_neighbors": n - 1, "weights": "gaussian", "width": (2 * gamma) ** -0.5}
        elif self.affinity == "nearest_neighbors":
            k = max(n // 10, 1) if self.n_neighbors is None else self.n_neighbors
            params |= {"n_neighbors": k - 1}  # scikit-learn counts a row among its own neighbours
        elif self.affinity == "precomputed_nearest_neighbors":
            params |= {"metric": "precomputed"}
        else:
            params |= {"metric": "precomputed", "weights": "gaussian", "width": 1.0}
        return gramfold.LaplacianEigenmaps(**params)

    def _rows(self, X):
        if callable(self.affinity):
            return lengths_of(self.affinity(X))
        return lengths_of(X) if self.affinity == "precomputed" else X

    @property
    def affinity_matrix_(self):
        rows = self.kernel_.rows
        weights = affinity(self.graph_, self.width_).toarray()[np.ix_(rows, rows)]
        np.fill_diagonal(weights, 1.0)  # which a Laplacian does not see
        return weights


def spectral_embedding(
    adjacency,
    *,
    n_components=8,
    eigen_solver=None,
    random_state=None,
    eigen_tol="auto",
    norm_laplacian=True,
    drop_first=True,
):
    model = gramfold.LaplacianEigenmaps(
        n_components if drop_first else n_components - 1,
        metric="precomputed",
        weights="gaussian",
        width=1.0,
        laplacian="random-walk" if norm_laplacian else "unnormalized",
        random_state=random_state,
    ).fit(lengths_of(adjacency))
    trivial = np.full((len(model.embedding_), 1), model.kernel_.mass.sum() ** -0.5)
    return model.embedding_ if drop_first else np.hstack([trivial, model.embedding_])


def lengths_of(weights):
    """A sparse graph with the edge lengths d whose Gaussian weights exp(−d²/2) are these, the largest of them 1."""
    edges = csr_array(weights, dtype=np.float64)
    lengths = np.sqrt(-2 * np.log(edges.data / edges.data.max()))
    return csr_array((lengths, edges.indices, edges.indptr), edges.shape)


def graph_components(graph):
    neighbors = GraphIndex(csr_array(graph)).own(None, None)
    return components(build_graph(neighbors, None, np.ones(len(neighbors))))


def _graph_connected_component(graph, node_id):
    pieces = graph_components(graph)
    return pieces == pieces[node_id]


def _graph_is_connected(graph):
    return not graph_components(graph).any()


def keep(estimator, params):
    vars(estimator).update({name: value for name, value in params.items() if name not in {"self", "__class__"}})
