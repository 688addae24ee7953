"""Damages of every file of every artefact, each with a command that reads it."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa

from schemas.tables import CLUSTERS, ID_TABLE, PAIRS, QUESTIONS
from tests.faults import damages as of
from tests.faults.damages import Damage

SCORES = ("linkage_probability", "coherence", "adjusted_coherence", "idf_coherence")


def paired_damages():
    """Yield pairs of a damage and a command that must notice it, or work as before where it needs nothing of it."""
    readers = {
        "*/questions/*": ("index", "sample", "distil"),
        "*/clusters/*": ("sample", "evaluate", "train-reranker", "train"),
        "*/pairs/*": ("train", "distil"),
    }
    read = pa.schema([field for field in QUESTIONS if not pa.types.is_timestamp(field.type)])
    for pattern, schema in (("*/questions/*", read), ("*/clusters/*", CLUSTERS), ("*/pairs/*", PAIRS)):
        bad = [*of.of_bytes("dataset", pattern), *of.of_links("dataset", pattern)]
        yield from spread(bad, readers[pattern])
        yield from spread(of.of_table("dataset", pattern, schema), readers[pattern][:2])
    yield from spread(dataset_values(), ("sample", "evaluate"))
    for name, encoder in (("cnn", cnn_fields()), ("subword", subword_fields())):
        models = ("encode", "index", "train --init-from", "distil", "clusters --refine-with")
        bad = [d for p in ("config.json", "vocabulary.txt", "weights.safetensors") for d in of.of_bytes(name, f"*/{p}")]
        bad += [d for p in ("config.json", "weights.safetensors") for d in of.of_links(name, f"*/{p}")]
        bad += of.of_json(name, "*/config.json")
        yield from spread([*bad, *vocabularies(name), *encoder], models[:1])
        yield from spread(bad[:6], models[1:])
    yield from spread(index_damages(), ("search", "evaluate", "train-reranker"))
    yield from spread(reranker_damages(), ("search --rerank", "evaluate --rerank"))
    yield from spread(calibration_damages(), ("clusters --calibration",))
    yield from spread(verdict_damages(), ("clusters by verdicts",))


def spread(bad, commands):
    """Yield each damage with one of the commands, in turns: many damages for each, and not all for all."""
    turns = itertools.cycle(commands)
    return [(damage, next(turns)) for damage in bad]


def dataset_values():
    at = "dataset", "*/clusters/*"
    yield of.value(*at, "an unknown split", "split", "elsewhere")
    yield of.value(*at, "a negative size", "size", -1, maybe=True)
    yield of.value(*at, "a wrong size", "size", 2, maybe=True)
    yield of.value(*at, "lists of two lengths", "texts", ["one"])
    yield of.value(*at, "no member", "question_ids", [])
    yield Damage(*at, "a null member", of.table_change(null_member), "texts")


def null_member(table):
    texts = [["a", None, "b"], *table["texts"].to_pylist()[1:]]
    return of.put(table, "texts", pa.array(texts, pa.list_(pa.string())))


def cnn_fields():
    at = "cnn", "*/config.json"
    shape = ("shape.embedding_dimension", "shape.channels", "shape.dimension", "shape.windows")
    unused = "dataset_digest", "encoder", "training.batch_size", "tokenizer"  # or with a default that is right
    yield from of.of_fields(*at, "words", "hash_bins", *shape, "shape", "training", *unused, maybe=unused)
    yield Damage(*at, "absurd sizes", of.set_at("shape", "channels", to=10**15))
    yield Damage(*at, "a window too wide", of.set_at("shape", "windows", to=[10**6]))
    yield Damage(*at, "an unknown field", of.set_at("trust_remote_code", to=True))
    names = ("embedding.weight", "kernels.0", "bias", "projection.weight", "projection.bias")
    yield from of.of_tensors("cnn", "*/weights.safetensors", *names)


def subword_fields():
    at = "subword", "*/config.json"
    names = ("shape.ngram_bins", "shape.ngrams", "shape.ngram_weight", "shape.bigram_bins")
    yield from of.of_fields(*at, "hash_bins", "shape.dimension", maybe=["shape.dimension"])
    yield from of.of_fields(*at, *names, maybe=names)
    yield Damage(*at, "an n-gram too long", of.set_at("shape", "ngrams", to=[10**6]))
    yield from of.of_tensors("subword", "*/weights.safetensors", "embedding.weight", numbers=(np.nan, np.inf))


def vocabularies(artefact):
    at = artefact, "*/vocabulary.txt"
    yield Damage(*at, "a word twice", lambda _: b"pay\npay\ncancel\nflight\n")
    yield Damage(*at, "a word less", lambda _: b"pay\nbill\ncancel\n")
    yield Damage(*at, "a word more", lambda _: b"pay\nbill\ncancel\nflight\nmore\n")
    yield Damage(*at, "an empty word", lambda _: b"pay\n\ncancel\nflight\n")
    yield Damage(*at, "not UTF-8", lambda _: b"pay\nbill\n\xff\nflight\n")
    yield Damage(*at, "UTF-16", lambda content: content.decode().encode("utf-16"))


def index_damages():
    ids, shard, codes = "*/ids/00000*", "*/shards/00000*", "*/codes/lists.faiss"
    yield from of.of_bytes("index", ids)
    yield from of.of_links("index", ids)
    for damage in of.of_table("index", ids, ID_TABLE):
        yield damage._replace(maybe=False) if "question_id" in damage.name else damage
    yield of.value("index", ids, "ids that do not ascend", "question_id", 2**63 - 1)
    yield of.value("index", ids, "a negative id, which is one", "question_id", -(2**63), maybe=True, told="")
    yield from of.of_bytes("index", shard)
    yield from of.of_links("index", shard)
    yield from of.of_bytes("index", codes)
    yield from of.of_links("index", codes)
    yield Damage("index", shard, "names a file", lambda content: b"ilod" + content[4:], "ilod")
    yield Damage("index", shard, "of another dimension", lambda content: content[:4] + b"\4" + content[5:])
    yield from of.of_bytes("index", "*/model/*/weights.safetensors")
    yield from of.of_tensors("index", "*/model/*/weights.safetensors", "bias")
    yield from of.of_json("index", "*/model/manifest.json")
    yield from of.of_bytes("index", "*/model/manifest.json")
    at = "index", "manifest.json"
    fields = ("model_digest", "factory", "probes", "dimension", "questions", "shards", "distance", "model_url")
    present = [f"configuration.{field}" for field in fields if field != "model_url"]
    harmless = ["configuration.shards", "configuration.distance"]
    yield from of_settings(*at, *present, maybe=harmless)
    for url in ("http://elsewhere/model", "../cnn", "st:http://elsewhere/x", "st:nowhere", 1):
        yield Damage(*at, f"model_url {url}", of.set_at("configuration", "model_url", to=url), "")
    for factory in ("IVF1,Flat", "IVF1,SQ8", "HNSW32", "IVF99999999,Flat", ""):
        yield Damage(*at, f"factory {factory}", of.set_at("configuration", "factory", to=factory), "")


def reranker_damages():
    at = "reranker", "*/reranker.safetensors"
    yield from of.of_bytes(*at)
    yield from of.of_links(*at)
    yield from of.of_tensors(*at, "mean", "deviation", "hidden.weight", "hidden.bias", "out.weight")
    zero = of.tensors_change(lambda t: {**t, "deviation": t["deviation"] * 0})
    yield Damage(*at, "a deviation of 0", zero, "deviation")
    for name in ("mean", "hidden.weight", "hidden.bias", "out.weight"):
        huge = of.tensors_change(lambda t, n=name: of.spoiled(t, n, np.float32(-3e38)))
        yield Damage(*at, f"{name} holds a huge number", huge, name)
    for name, counts in {
        "negative counts": np.array([-1, 9, 9, 9]),
        "counts beyond the questions": np.array([10**9, 9, 9, 9]),
        "fewer counts": np.array([9, 9, 9]),
        "counts of two dimensions": np.full((2, 2), 9),
        "counts that are no whole numbers": np.array([9.5, 9, 9, 9]),
        "one count": np.array(9),
    }.items():
        yield Damage(*at, name, of.tensors_change(lambda t, c=counts: {**t, "counts": c}))
    words = "reranker", "*/words.txt"
    yield from of.of_bytes(*words)
    yield Damage(*words, "a word twice", lambda _: b"pay\npay\ncancel\nflight\n")
    yield Damage(*words, "a word more", lambda content: content + b"more\n")
    yield Damage(*words, "not UTF-8", lambda _: b"pay\nbill\n\xff\nflight\n")
    fields = ("version", "model_digest", "depth", "hidden", "questions", "mean_length", "encoders", "tokenizer")
    paths = [f"configuration.{field}" for field in fields]
    yield from of_settings(
        "reranker",
        "manifest.json",
        *paths,
        maybe=["configuration.version", "configuration.encoders", "configuration.tokenizer"],
    )
    for url in ("http://elsewhere/model", "st:nowhere", "../nowhere", "memory://x/y", ""):
        encoders = [{"url": url, "digest": "0" * 64}]
        change = of.set_at("configuration", "encoders", to=encoders)
        yield Damage("reranker", "manifest.json", f"an encoder at {url}", change)


def of_settings(artefact, pattern, *paths, maybe):
    """Damage settings in a manifest, which nothing signs."""
    return (damage._replace(told="") for damage in of.of_fields(artefact, pattern, *paths, maybe=maybe))


def calibration_damages():
    weights, curves = ("calibration", "*/weights.json"), ("calibration", "*/calibration.json")
    for at in (weights, curves):
        yield from of.of_bytes(*at)
        yield from of.of_json(*at)
        yield from of.of_links(*at)
    fields = ("kind", "cosine", "features", "threshold", "trees", "least_of_two")
    yield from of.of_fields(*weights, *fields, maybe=["least_of_two"])
    yield Damage(*weights, "a threshold above 1", of.set_at("threshold", to=1.5), "threshold")
    for name, numbers in {
        "left_child": ["", "0", "99999999999999999999"],
        "split_feature": ["-1", "45", "x"],
        "threshold": ["", "nan", "1e999"],
        "leaf_value": ["", "nan", "1e999"],
        "decision_type": ["1", "½"],
        "num_leaves": ["0", "17", "99999999999999999999"],
    }.items():
        for number in numbers:
            change = of.in_text("trees", pattern=rf"\n{name}=\S+", to=f"\n{name}={number}")
            yield Damage(*weights, f"{name} begins with {number}", change, "trees")
    for name, old, new in [
        ("no tree", r"(?s)\n\nTree=.*", ""),
        ("no name of a feature", r"\nfeature_names=.*", ""),
        ("names of other features", r"\nfeature_names=\S+", "\nfeature_names=x"),
        ("of another objective", r"objective=\S+", "objective=regression"),
    ]:
        yield Damage(*weights, name, of.in_text("trees", pattern=old, to=new), "trees")
    yield from of.of_fields(*curves, "curves", *(f"curves.{score}" for score in SCORES))
    point = ("threshold", "precision", "recall")
    yield from of.of_fields(*curves, *(f"curves.coherence.0.{name}" for name in point))
    yield Damage(*curves, "no point", of.set_at("curves", "coherence", to=[]), "coherence")


def verdict_damages():
    at = "verdicts", "*/verdicts.json"
    yield from of.of_bytes(*at)
    yield from of.of_json(*at)
    yield from of.of_links(*at)
    numbers = ["dataset", "kept_pairs", "other_pairs", "verdicts", "unclear", "intercept"]
    yield from of.of_fields(*at, "inputs", "slope", *numbers, maybe=numbers)
    yield from of.of_fields(*at, "sets", "probability", "right", "others_right", "probability.0", "right.0")
    yield from of.of_fields(*at, "sets.0.0", "sets.0.1", "probability.0.0", maybe=["sets.0.0", "probability.0.0"])
    yield Damage(*at, "sets in disorder", of.set_at("sets", to=[[0.2, 0.5], [0.9, 1.0]]), "sets")
    yield Damage(*at, "a share above 1", of.set_at("sets", 1, 1, to=1.5), "sets")
    yield Damage(*at, "a block of five", of.set_at("right", 0, to=[True] * 5), "6 draws")
