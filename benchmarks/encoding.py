"""Questions a second of a core: the numpy and the compiled encoders, their torch modules, and a peer, in one run.

Run: python -m benchmarks.encoding --dataset D --model M [M…] [--questions 131072] [--slow 8192] [--without-peer]

D is any dataset, of which questions are drawn; M are models by `qpr train`, or st:FOLDER for a model of
sentence-transformers, which is compared with the library's own loop on `--slowest` questions. The peer is its
WordEmbeddings + CNN + Pooling (maximum) with the weights of the first convolutional model; it leaves out what follows
the maximum, and words that are not listed. `pip install '.[train,fast]' sentence-transformers` brings what is needed.
Everything reads texts, on one thread but for the rows that name more. A figure is the best of three; what an encoder
does once, the first time it meets a word, is told beside it.
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from threadpoolctl import threadpool_limits

from benchmarks.machine import describe_machine
from model.encoders.cnn.inference import CnnEncoder
from model.encoders.interface import Encoder, Matrix
from model.encoders.kernels.dispatch import SWITCH, compiled, load_compiled
from model.encoders.network import network_of
from model.encoders.registry import encoder_of
from model.encoders.saved_model import ModelParts, load_parts
from model.encoders.transformer.body import TransformerBody
from model.encoders.transformer.checkpoint_folder import checked_folder, load_sentences
from model.encoders.transformer.inference import encoded, is_transformer, load_transformer
from schemas.artifacts.dataset import open_dataset
from schemas.text_arrays import key_all, words_all

THREADS = 2
PEER_BATCHES = (32, 256)
SEED = 0


def sample(url: str, *, questions: int) -> pa.Array:
    """Return texts of a dataset in random order."""
    texts = open_dataset(url).table("questions", columns=["text"])["text"].combine_chunks()
    order = np.random.default_rng(SEED).permutation(len(texts))[:questions]
    return texts.take(pa.array(order))


def measured(name: str, encode: Callable[[], Matrix], *, wall: bool = False) -> Matrix:
    """Print questions a second, of CPU or by the wall clock, the best of three; return the vectors."""
    clock = time.perf_counter if wall else time.process_time
    times = []
    for _ in range(3):
        started = clock()
        vectors = encode()
        times.append(clock() - started)
    unit = "questions/s" if wall else "questions/s of CPU"
    first = f", {times[0] - min(times):.2f} s more at first"
    print(f"  {name:40} {len(vectors) / min(times):10,.0f} {unit}{first}", flush=True)
    return vectors


def torch_vectors(parts: ModelParts, texts: pa.Array) -> Callable[[], Matrix]:
    """Return what encodes the texts with the module that was trained."""
    network = network_of(parts.vocabulary, parts.config.shape)
    weights = {name: torch.from_numpy(weight.astype(np.float32)) for name, weight in parts.weights.items()}
    network.body.load_state_dict(weights)
    return lambda: network.encode_all(network.read(texts))


def difference(name: str, ours: Matrix, theirs: Matrix) -> None:
    """Print how far apart two results are."""
    apart = float(np.abs(ours[: len(theirs)] - theirs).max())
    same = ", the same bytes" if ours[: len(theirs)].tobytes() == theirs.tobytes() else ""
    print(f"  largest difference to {name}: {apart:.1e}{same}")


def compare(url: str, texts: pa.Array, slow: pa.Array) -> None:
    """Print a table of one model."""
    started = time.perf_counter()
    parts = load_parts(url)
    encoder = encoder_of(parts)
    loading = time.perf_counter() - started
    rows = {name: weight.shape for name, weight in parts.weights.items()}
    print(f"{url}: {parts.config.encoder}, {rows}, {loading:.2f} s to load")
    reference = measured(f"torch module ({len(slow):,})", torch_vectors(parts, slow))
    os.environ[SWITCH] = "0"
    plain = measured("numpy", lambda: encoder.encode(texts))
    os.environ[SWITCH] = "1"
    load_compiled(2**31)
    assert compiled() is not None, "pip install '.[fast]'"
    encoder.encode(texts[:100])  # compiles, where nothing is kept from before
    fast = measured("compiled", lambda: encoder.encode(texts))
    if isinstance(encoder, CnnEncoder):
        half = encoder_of(parts, half=True)
        halved = measured("compiled, float16 tables", lambda: half.encode(texts))
        difference("it, of float16 tables", fast, halved)
    measured(f"compiled, {THREADS} threads", lambda: encoder.encode(texts, threads=THREADS), wall=True)
    difference("the torch module", fast, reference)
    difference("numpy", fast, plain)


def peer(encoder: CnnEncoder, texts: pa.Array) -> None:
    """Print what sentence-transformers' convolution does with the same weights."""
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import CNN, Pooling, WordEmbeddings
        from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer
    except ImportError as error:
        raise SystemExit(f"no peer: {error}. Run pip install sentence-transformers, or add --without-peer") from error

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
    spaced = [" ".join(found) for found in words_all(key_all(texts)).to_pylist()]
    for size in PEER_BATCHES:
        encode = functools.partial(model.encode, spaced, batch_size=size, show_progress_bar=False)
        vectors = measured(f"sentence-transformers, batches of {size}", encode)
    known = encoder.vocabulary.ids_of_distinct
    all_listed = [i for i, line in enumerate(spaced) if line and (known(pa.array(line.split())) < len(listed)).all()]
    tokens = encoder.vocabulary.ids(key_all(texts.take(pa.array(all_listed))))
    ours = encoder.pooled(tokens)[:, : vectors.shape[1]]
    difference(f"its maxima, {len(all_listed):,} questions of listed words", ours, vectors[all_listed])


def compare_transformer(url: str, texts: pa.Array) -> None:
    """Print a table of a model of sentence-transformers: the library's loop and ours."""
    listed, encoder = texts.to_pylist(), load_transformer(url)
    library = load_sentences(checked_folder(url), name=url)
    print(f"{url} ({len(listed):,})")
    for size in PEER_BATCHES:
        options = {"batch_size": size, "normalize_embeddings": True, "show_progress_bar": False}
        theirs = measured(
            f"sentence-transformers, batches of {size}", functools.partial(library.encode, listed, **options)
        )
    body = TransformerBody(library).eval()
    single = measured("qpr, float32", lambda: encoded(body, listed))
    chosen = measured("qpr, as it chooses here", lambda: encoder.encode(listed))
    difference("sentence-transformers, of float32", single, theirs)
    cosines = np.einsum("nd,nd->n", chosen, theirs)
    print(f"  least cosine of what was chosen to sentence-transformers: {cosines.min():.5f}, mean {cosines.mean():.5f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--model", required=True, nargs="+")
    parser.add_argument("--questions", type=int, default=131_072)
    parser.add_argument("--slow", type=int, default=8_192, help="questions for the torch modules and the peer")
    parser.add_argument("--slowest", type=int, default=1_024, help="questions for models of sentence-transformers")
    parser.add_argument("--without-peer", action="store_true")
    options = parser.parse_args()
    texts = sample(options.dataset, questions=options.questions)
    slow = texts[: options.slow]
    print(f"{describe_machine()}; {len(texts):,} questions, seed {SEED}, torch {torch.__version__}")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        encoders: list[Encoder] = []
        for url in options.model:
            if is_transformer(url):
                compare_transformer(url, texts[: options.slowest])
                continue
            compare(url, texts, slow)
            encoders.append(encoder_of(load_parts(url)))
        convolutions = [encoder for encoder in encoders if isinstance(encoder, CnnEncoder)]
        if convolutions and not options.without_peer:
            print(f"peer ({len(slow):,})")
            peer(convolutions[0], slow)


if __name__ == "__main__":
    main()
