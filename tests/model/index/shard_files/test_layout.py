from __future__ import annotations

import functools
import struct
import subprocess
import sys
from pathlib import Path

import faiss
import numpy as np
import pytest

from model.index.shard_files.layout import layout_of
from model.index.shards import build_shard, open_shard, train
from tests.support.graphs import random_vectors

FACTORIES = {
    "Flat": ("Flat", 0),
    "IVF3,Flat": ("Flat", 3),
    "IVF7,Flat": ("Flat", 7),  # most lists are empty, so FAISS writes their sizes in another way
    "IVF3,SQ4": ("SQ", 3),
    "IVF3,SQ6": ("SQ", 3),
    "IVF3,SQ8": ("SQ", 3),
    "IVF3,SQfp16": ("SQ", 3),
    "IVF3,SQbf16": ("SQ", 3),
    "IVF3,PQ4np": ("PQ", 3),  # without polysemous training, which takes seconds and is not written
    "IVF3,PQ4x4": ("PQ", 3),
    "IVF3,PQ2x5np": ("PQ", 3),
    "IVF3,PQ4x4fs": ("PQ", 3),
    "IVF7,PQ1x4fs": ("PQ", 7),
    "IVF7_HNSW2,Flat": ("Flat", 7),
    "IVF7_HNSW4,SQ8": ("SQ", 7),
    "HNSW2,SQ8,RFlat": ("SQ", 0),
    "HNSW3,SQfp16,RFlat": ("SQ", 0),
}


@functools.cache
def trained(factory):
    return train(factory, random_vectors(300))


def shard(factory, rows=None):
    return build_shard(trained(factory), random_vectors(2, seed=1) if rows is None else rows)


def patched(content, place, form, value):
    return content[:place] + struct.pack(f"<{form}", value) + content[place + struct.calcsize(f"<{form}") :]


@pytest.mark.parametrize("factory", FACTORIES)
def test_shards_of_every_factory_are_read_to_the_last_byte(factory):
    content = shard(factory)
    layout = layout_of(content)
    assert (layout.encoding, layout.lists) == FACTORIES[factory]
    assert (layout.dimension, layout.rows) == (8, 2)
    assert layout.centroids == layout_of(shard(factory, random_vectors(9, seed=2))).centroids
    assert len(open_shard(content)) == 2
    with pytest.raises(ValueError, match="the length in bytes is"):
        layout_of(content + b"\0")


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_shard_that_breaks_off_anywhere_is_refused(factory):
    content = shard(factory)
    for length in range(0, len(content), 1 if len(content) < 2_000 else 13):
        with pytest.raises(ValueError, match=r"ends at byte [\d,]+, [\d,]+ are expected at byte|where .* is expected"):
            layout_of(content[:length])


def on_disk(path):
    """Return a shard whose lists lie in another file."""
    quantizer = faiss.IndexFlatL2(8)
    quantizer.add(random_vectors(4))
    index = faiss.IndexIVFFlat(quantizer, 8, 4)
    index.is_trained = True
    lists = faiss.OnDiskInvertedLists(4, index.code_size, str(path))
    index.replace_invlists(lists)
    index.add(random_vectors(10))
    return faiss.serialize_index(index).tobytes()


def test_a_shard_that_names_a_file_is_refused_before_faiss_opens_it(tmp_path):
    content = on_disk(tmp_path / "lists")
    assert str(tmp_path / "lists").encode() in content
    (tmp_path / "lists").unlink()
    (tmp_path / "lists").write_bytes(b"mine")
    with pytest.raises(ValueError, match="'ilod' where ilar is expected"):
        open_shard(content)
    assert (tmp_path / "lists").read_bytes() == b"mine"


def graph():
    return faiss.index_factory(8, "HNSW8")


def graph_of_products():
    return faiss.index_factory(8, "HNSW8_PQ4x4")


def nested_lists():
    return faiss.index_factory(8, "IVF4(IVF2,Flat),Flat")


def inner_product():
    return faiss.index_factory(8, "Flat", faiss.METRIC_INNER_PRODUCT)


def ivf_inner_product():
    return faiss.index_factory(8, "IVF4,Flat", faiss.METRIC_INNER_PRODUCT)


def id_map():
    return faiss.index_factory(8, "IDMap,Flat")


def direct_map():
    index = faiss.index_factory(8, "IVF4,Flat")
    index.set_direct_map_type(faiss.DirectMap.Hashtable)
    return index


@pytest.mark.parametrize(
    "index", [graph, graph_of_products, nested_lists, inner_product, ivf_inner_product, id_map, direct_map]
)
def test_indexes_of_other_kinds_are_refused(index):
    made = index()
    made.train(random_vectors(300))
    if not isinstance(made, faiss.IndexIDMap):
        made.add(random_vectors(10))
    with pytest.raises(ValueError, match=r"where .* is expected|metric is 0|a direct map"):
        layout_of(faiss.serialize_index(made).tobytes())


def test_vectors_and_centroids_that_are_no_numbers_are_refused():
    for value in (np.nan, np.inf):
        rows = random_vectors(2, seed=1)
        rows[1, 3] = value
        with pytest.raises(ValueError, match="numbers that are infinite or no numbers"):
            layout_of(shard("Flat", rows))
    content = shard("IVF3,Flat")
    with pytest.raises(ValueError, match="numbers of centroids that are infinite"):
        layout_of(patched(content, 53 + 45, "f", np.nan))
    with pytest.raises(ValueError, match="vectors that are infinite"):
        layout_of(patched(content, len(content) - 8 - 32, "f", np.inf))
    for factory, after in (("IVF3,SQfp16", 8), ("IVF3,SQbf16", 8), ("HNSW3,SQfp16,RFlat", 24)):
        content = shard(factory)
        with pytest.raises(ValueError, match="vectors that are infinite"):
            layout_of(patched(content, len(content) - after - 2, "H", 0x7FFF))


@pytest.mark.parametrize("row", [-1, 2, 2**40, 0])
def test_rows_of_lists_that_are_not_those_of_the_shard_are_refused(row):
    content = shard("IVF1,Flat")
    layout_of(patched(content, len(content) - 8, "q", 1))
    with pytest.raises(ValueError, match="do not hold each of the rows 0 to 1 once"):
        layout_of(patched(content, len(content) - 8, "q", row))


@pytest.mark.parametrize(
    ("factory", "place", "form", "value", "fault"),
    [
        ("Flat", 4, "i", 2**31 - 1, "the number of numbers is 16, not"),
        ("Flat", 4, "i", -8, "2 vectors of dimension -8"),
        ("Flat", 8, "q", 2**62, "the number of numbers is 16, not"),
        ("Flat", 37, "Q", 2**61, "the number of numbers is"),
        ("Flat", 32, "B", 2, "the mark of a trained index is 2, not 1"),
        ("IVF3,Flat", 37, "Q", 2**62, "the number of centroids is 3, not"),
        ("IVF3,Flat", 53 + 4, "i", 4, "the dimension of centroids is 4, not 8"),
        ("IVF3,PQ4x4", 228, "Q", 60, "a product quantizer of 4 parts of 60 bits"),
    ],
)
def test_absurd_counts_are_refused_by_arithmetic(factory, place, form, value, fault):
    with pytest.raises(ValueError, match=fault):
        layout_of(patched(shard(factory), place, form, value))


def test_no_flipped_byte_crashes_the_process_or_leads_out_of_the_shard():
    """Every byte of small shards is changed; what is accepted is opened by FAISS and searched."""
    command = [sys.executable, "-m", "tests.model.index.shard_flips", *FACTORIES]
    root = Path(__file__).parents[4]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr[-2_000:]
    flipped, accepted = map(int, ended.stdout.split())
    assert flipped > 10_000
    assert 0.1 < accepted / flipped < 0.9  # codes and further numbers of the header may have any value
