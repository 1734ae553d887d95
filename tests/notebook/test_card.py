"""The words beside the picture: true, escaped, well formed, and nothing computed for them."""

import copy
import pickle
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from gramfold import PCA, SDE, ClassicalMDS, Isomap, KernelPCA, OrdinalMDS, SpectralClustering
from gramfold.embedding.changed import changed_parameters, parameters_in_words
from gramfold.embedding.compact import compacted
from gramfold.embedding.made import known_verdict
from gramfold.errors import GramfoldWarning
from gramfold.notebook.facts import facts_of, size_of
from gramfold.notebook.numerals import percent
from tests.contract.checks import sheet
from tests.contract.discovery import by_name, exported


def told_parameters(model):
    return parameters_in_words(changed_parameters(model))


HOSTILE = "<script>alert('\"&')</script>"
_ALONE = {"img"}  # elements without an end


class Checked(HTMLParser):
    """Every element ends where it should; elements, their alt texts and all text are kept."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.elements, self.texts, self.alts = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        self.alts += [value for name, value in attrs if name == "alt"]
        if tag not in _ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")
@pytest.mark.parametrize("cls", exported(), ids=by_name)
def test_every_class_shows_its_map(cls):
    model = cls().fit(sheet(60))
    shown = Checked(model._repr_html_())
    assert set(shown.elements) <= {"div", "img", "span"}
    assert shown.elements.count("img") == 1
    assert shown.alts[0].startswith(f"{cls.__name__}: ")
    assert cls.__name__ in shown.texts
    assert size_of(model) in shown.texts
    assert size_of(model).startswith("60 rows × 3 columns → ")
    bundle = model._repr_mimebundle_()
    assert bundle == {"text/plain": repr(model), "text/html": model._repr_html_()}


def test_nothing_of_the_users_is_html():
    class Named:
        def __repr__(self):
            return HOSTILE

    X = pd.DataFrame(sheet(30), columns=[HOSTILE, "b", "c"])
    model = PCA(random_state=0).fit(X)
    model.random_state = Named()
    html = model._repr_html_()
    assert "<script" not in html
    texts = Checked(html).texts
    assert f"{HOSTILE}, b, c" in " ".join(texts).replace("\\", "")
    assert f"random_state={HOSTILE}" in texts


def test_parameters_that_are_not_at_their_defaults():
    assert told_parameters(Isomap()) == ""
    assert told_parameters(Isomap(n_neighbors=12, metric="cityblock")) == "metric='cityblock', n_neighbors=12"
    assert told_parameters(Isomap(drop_edges=np.zeros((3, 2), dtype=int))) == "drop_edges=ndarray of shape (3, 2)"
    assert told_parameters(KernelPCA(kernel=np.dot)) == "kernel=dot"
    long = told_parameters(Isomap(metric="x" * 500))
    assert len(long) < 80
    assert "..." in long


def test_a_value_whose_words_fail_breaks_no_picture():
    class Broken:
        def __repr__(self):
            raise RuntimeError("no words")

    assert "random_state=<Broken instance at" in told_parameters(PCA(random_state=Broken()))


def test_only_a_verdict_that_was_asked_for_is_shown(monkeypatch):
    model = Isomap(n_neighbors=8).fit(sheet(200))
    assert known_verdict(model) is None
    assert "verdict" not in facts_of(model)
    said = model.verdict()
    assert known_verdict(model) is said
    assert facts_of(model)["verdict"].startswith(f"{said.kind} ({said.sure}); ")
    assert f"{said.kind} ({said.sure})" in model._repr_html_()
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), model.fit(sheet(150))):
        assert known_verdict(other) is None
    assert known_verdict(Isomap()) is None


def test_an_inverse_keeps_the_verdict_and_a_verdict_the_inverse():
    model = PCA().fit(sheet(80))
    model.inverse_transform(model.embedding_[:2])
    said = model.verdict()
    model.inverse_error()
    assert known_verdict(model) is said
    assert {"auto", "error of auto", "verdict"} <= set(model._made[1])


def test_the_share_is_that_of_shares():
    X = sheet(70)
    model = PCA(n_components=2).fit(X)
    assert facts_of(model)["variance"] == f"{percent(model.shares().sum())} explained"
    unfolded = SDE(n_neighbors=6).fit(X)
    assert facts_of(unfolded)["variance"] == f"{percent(unfolded.shares().sum())} of the kernel's"
    gap = unfolded.certificate_.gap
    assert facts_of(unfolded)["certificate"] == f"within {gap:.1e} of the largest variance that is possible"
    assert "variance" not in facts_of(ClassicalMDS().fit(X)), "it would have to be computed"


def test_shares_are_not_rounded_up_to_all():
    assert [percent(part) for part in (0.0, 0.1234, 0.9994, 0.99951, 1 - 1e-9, 1.0)] == [
        "0.0%",
        "12.3%",
        "99.9%",
        "over 99.9%",
        "over 99.9%",
        "100%",
    ]


def test_stress_and_precomputed_input():
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    model = OrdinalMDS(metric="precomputed").fit(D)
    assert facts_of(model)["stress"] == f"{model.stress_:.3g}"
    assert size_of(model) == "6 rows × precomputed → 2 coordinates"


def test_clusters_are_in_the_legend():
    X = np.vstack([sheet(40), sheet(30) + 50])
    model = SpectralClustering(n_clusters=2).fit(X)
    shown = Checked(model._repr_html_())
    assert " 0: 40" in shown.texts
    assert " 1: 30" in shown.texts
    assert size_of(model) == "70 rows × 3 columns → 2 clusters"


def test_scikit_learn_decides_what_is_displayed():
    model = PCA().fit(sheet(30))
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}
    assert "data:image/png" in model._repr_html_()


def test_scikit_learns_diagram_of_what_has_no_map():
    assert "sk-estimator" in PCA()._repr_html_()
    model = PCA().fit(sheet(30))
    assert "sk-estimator" in estimator_html_repr(model)
    pipeline = make_pipeline(StandardScaler(), model).fit(sheet(30))
    assert "sk-estimator" in pipeline._repr_html_()
    assert "data:image/png" not in pipeline._repr_html_()


def test_nothing_heavy_is_imported():
    code = (
        "import sys, numpy as np\n"
        "from gramfold import PCA\n"
        "model = PCA().fit(np.random.default_rng(0).random((50, 3)))\n"
        "before = set(sys.modules)\n"
        "assert 'data:image/png' in model._repr_html_()\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "assert not new & {'matplotlib', 'PIL', 'pandas', 'numba'}, new\n"
        "assert 'gramfold.plotting' not in sys.modules\n"
        "assert 'gramfold.diagnostics' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_compact_model_shows_its_diagram():
    model = SpectralClustering(n_clusters=2).fit(np.concatenate([sheet(40), sheet(40) + 50.0]))
    model.model_ = compacted(model.model_)
    assert "data:image/png" not in model._repr_html_()
