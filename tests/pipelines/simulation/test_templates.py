import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipelines.simulation.templates import Templates, render

TEMPLATES = ("plain", "{a}", "how far is {b} from {a}?", "{v}{v} of {a}", "")


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=8))
def test_rendering_is_the_same_as_str_format_row_by_row(rows):
    pool = ["", "Paris", "São Paulo", "7"]
    which, a, b, v = np.array(rows, np.int64).reshape(-1, 4).T
    filling = np.stack([np.zeros_like(a), a, b, v])
    rendered = render(Templates.compile(TEMPLATES), which, names=pa.array(pool), filling=filling)
    assert rendered.to_pylist() == [TEMPLATES[t].format(a=pool[i], b=pool[j], v=pool[k]) for t, i, j, k in rows]


def test_templates_without_any_place_render_as_they_are():
    compiled = Templates.compile(["yes", "no"])
    filling = np.zeros((4, 3), np.int64)
    assert render(compiled, np.array([1, 0, 1]), names=pa.array([""]), filling=filling).to_pylist() == [
        "no",
        "yes",
        "no",
    ]
