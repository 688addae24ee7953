from __future__ import annotations

import subprocess
import sys

import pytest

from model.encoders.cnn.inference import CnnEncoder
from model.encoders.loading import load_encoder
from model.encoders.subword.inference import BagEncoder


@pytest.mark.parametrize(("name", "kind"), [("cnn", CnnEncoder), ("subword", BagEncoder)])
def test_the_configuration_decides_the_encoder(memory, make_model, name, kind):
    manifest = make_model(f"{memory}/m", encoder=name, dimension=3)
    encoder = load_encoder(f"{memory}/m")
    assert isinstance(encoder, kind)
    assert encoder.digest == manifest.digest
    assert encoder.encode(["pay the bill", ""]).shape == (2, 3)


@pytest.mark.parametrize("heavy", ["torch", "apache_beam", "faiss", "numba", "sklearn", "matplotlib"])
def test_importing_it_loads_no_engine(heavy):
    probe = f"import sys, model.encoders.loading; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
