"""Speed of encoding on one core: numpy, compiled loops, torch modules, and sentence-transformers.

Run: python -m benchmarks.retrieval.encoding --dataset dataset --model encoder --questions 10000 --slow 1000

Models are those of `qpr train`, or st:FOLDER for one of sentence-transformers, which is compared with the library's own
loop. The peer of a convolution is the library's WordEmbeddings + CNN + Pooling (maximum) with the same weights, without
the layers after the maximum and without unlisted words. Needs `pip install '.[train,fast]' sentence-transformers`.
Everything reads texts, on one thread except in rows with more. Figures are the best of three; the time that an encoder
needs once, for words it has not seen before, is a column of its own.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import torch
import typer
from threadpoolctl import threadpool_limits

from benchmarks.cli import AsJson, Report, run
from model.encoders.cnn.inference import CnnEncoder
from model.encoders.interface import Encoder
from model.encoders.kernels.dispatch import compiled, load_compiled
from model.encoders.loading import encoder_of, load_encoder
from model.encoders.new_network import network_of
from model.encoders.registry import kind_of_address
from model.encoders.saved_model import ModelParts, load_parts
from model.encoders.transformer.body import TransformerBody
from model.encoders.transformer.checkpoint_folder import checked_folder, load_sentences
from model.encoders.transformer.inference import encoded
from schemas.arrays import Matrix
from schemas.artifacts.dataset import open_dataset
from schemas.compiled import SWITCH
from schemas.text_arrays import key_all, words_all

THREADS = 2
PEER_BATCHES = (32, 256)
"""Questions of a batch of sentence-transformers: its default, and a larger number."""
SEED = 0


def sample(url: str, *, questions: int) -> pa.Array:
    """Return texts of a dataset in random order."""
    texts = open_dataset(url).table("questions", columns=["text"])["text"].combine_chunks()
    order = np.random.default_rng(SEED).permutation(len(texts))[:questions]
    return texts.take(pa.array(order))


def measured(report: Report, name: str, encode: Callable[[], Matrix], *, wall: bool = False) -> Matrix:
    """Print questions a second, of CPU or by the wall clock, the best of three; return the vectors."""
    clock = time.perf_counter if wall else time.process_time
    times = []
    for _ in range(3):
        started = clock()
        vectors = encode()
        times.append(clock() - started)
    rate, first = len(vectors) / min(times), times[0] - min(times)
    unit = "wall" if wall else "CPU"
    report.row(encoder=name, questions=len(vectors), questions_a_second=rate, clock=unit, more_at_first_s=first)
    return vectors


def torch_vectors(parts: ModelParts, texts: pa.Array) -> Callable[[], Matrix]:
    """Return a function that encodes the texts with the trained torch module."""
    network = network_of(parts.vocabulary, parts.config.shape)
    weights = {name: torch.from_numpy(weight.astype(np.float32)) for name, weight in parts.weights.items()}
    network.body.load_state_dict(weights)
    return lambda: network.encode_all(network.read(texts))


def difference(report: Report, name: str, ours: Matrix, theirs: Matrix) -> None:
    """Print the largest difference of two results."""
    ours = ours[: len(theirs)]
    same = ours.tobytes() == theirs.tobytes()
    report.row(difference_to=name, largest=f"{np.abs(ours - theirs).max():.1e}", same_bytes=same)


def compare(report: Report, url: str, texts: pa.Array, slow: pa.Array) -> None:
    """Print a table of one model."""
    parts = load_parts(url)
    encoder = encoder_of(parts)
    reference = measured(report, "torch module", torch_vectors(parts, slow))
    os.environ[SWITCH] = "0"
    plain = measured(report, "numpy", lambda: encoder.encode(texts))
    os.environ[SWITCH] = "1"
    load_compiled(2**31)  # questions enough to be worth it
    assert compiled() is not None, "pip install '.[fast]'"
    encoder.encode(texts[:100])  # compiles, where nothing is kept from before
    fast = measured(report, "compiled", lambda: encoder.encode(texts))
    if isinstance(encoder, CnnEncoder):
        half = encoder.halved()
        halved = measured(report, "compiled, float16 tables", lambda: half.encode(texts))
        difference(report, "it, of float16 tables", fast, halved)
    measured(report, f"compiled, {THREADS} threads", lambda: encoder.encode(texts, threads=THREADS), wall=True)
    difference(report, "the torch module", fast, reference)
    difference(report, "numpy", fast, plain)


def peer(report: Report, encoder: CnnEncoder, texts: pa.Array) -> None:
    """Print the speed of sentence-transformers' convolution with the same weights."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import CNN, Pooling, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    rows, kernel, width = encoder.weights["embedding.weight"], encoder.weights["kernels.0"], encoder.windows[0]
    listed = encoder.vocabulary.words
    padded = np.vstack([np.zeros_like(rows[:1]), rows[: len(listed)]])  # 0 is its padding
    tokenizer = WhitespaceTokenizer(["<padding>", *listed], stop_words=[], do_lower_case=True)
    words: Any = WordEmbeddings(tokenizer, padded)
    convolution = CNN(rows.shape[1], kernel.shape[1] // width, kernel_sizes=[width])
    with torch.no_grad():
        ordered = torch.from_numpy(kernel).view(rows.shape[1], width, -1).permute(2, 0, 1)
        convolution.convs[0].weight.copy_(ordered)
        convolution.convs[0].bias.copy_(torch.from_numpy(encoder.weights["bias"][: kernel.shape[1] // width]))
    model = SentenceTransformer(modules=[words, convolution, Pooling(kernel.shape[1] // width, "max")], device="cpu")
    spaced = [" ".join(of_text) for of_text in words_all(key_all(texts)).to_pylist()]
    for size in PEER_BATCHES:
        encode = functools.partial(model.encode, spaced, batch_size=size, show_progress_bar=False)
        vectors = measured(report, f"sentence-transformers, batches of {size}", encode)
    ids_of = encoder.vocabulary.ids_of_distinct
    all_listed = [i for i, line in enumerate(spaced) if line and (ids_of(pa.array(line.split())) < len(listed)).all()]
    tokens = encoder.vocabulary.ids(key_all(texts.take(pa.array(all_listed))))
    ours = encoder.pooled(tokens)[:, : vectors.shape[1]]
    difference(report, f"its maxima, {len(all_listed):,} questions of listed words", ours, vectors[all_listed])


def compare_transformer(report: Report, url: str, texts: pa.Array) -> None:
    """Print a table of a model of sentence-transformers: the library's loop and ours."""
    listed, encoder = texts.to_pylist(), load_encoder(url)
    library = load_sentences(checked_folder(url), name=url)
    for size in PEER_BATCHES:
        options = {"batch_size": size, "normalize_embeddings": True, "show_progress_bar": False}
        theirs = measured(
            report, f"sentence-transformers, batches of {size}", functools.partial(library.encode, listed, **options)
        )
    body = TransformerBody(library).eval()
    single = measured(report, "qpr, float32", lambda: encoded(body, listed))
    chosen = measured(report, "qpr, as it chooses here", lambda: encoder.encode(listed))
    difference(report, "sentence-transformers, of float32", single, theirs)
    cosines = np.einsum("nd,nd->n", chosen, theirs)
    report.row(smallest_cosine=f"{cosines.min():.5f}", mean_cosine=f"{cosines.mean():.5f}")


def main(
    dataset: Annotated[str, typer.Option(help="Dataset whose questions are encoded.")],
    model: Annotated[list[str], typer.Option(help="Model, or st:FOLDER; repeatable.")],
    questions: Annotated[int, typer.Option(help="Questions for numpy and compiled loops.")] = 131_072,
    slow: Annotated[int, typer.Option(help="Questions for torch modules and the peer.")] = 8_192,
    slowest: Annotated[int, typer.Option(help="Questions for models of sentence-transformers.")] = 1_024,
    as_json: AsJson = False,
) -> None:
    """Encode the same questions with each model."""
    texts = sample(dataset, questions=questions)
    report = Report(as_json=as_json, torch=torch.__version__, seed=SEED, questions=len(texts))
    torch.set_num_threads(1)
    with threadpool_limits(1):
        encoders: list[Encoder] = []
        for url in model:
            report.heading(url)
            if kind_of_address(url):
                compare_transformer(report, url, texts[:slowest])
            else:
                compare(report, url, texts, texts[:slow])
                encoders.append(encoder_of(load_parts(url)))
        convolutions = [encoder for encoder in encoders if isinstance(encoder, CnnEncoder)]
        report.heading("peer of the convolution")
        if convolutions and report.has_peer("sentence_transformers"):
            peer(report, convolutions[0], texts[:slow])


if __name__ == "__main__":
    run(main)
