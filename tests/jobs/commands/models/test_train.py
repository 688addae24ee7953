from __future__ import annotations

import json
import sys

import pytest

from model.encoders.loading import load_encoder
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest

THINGS = ["bill", "rent", "card", "flight", "train", "hotel"]
CLUSTERS = [
    ("validation" if verb == "find" else "train", [f"how do i {verb} my {t}", f"{verb} {t} please", f"{verb} the {t}"])
    for verb in ("pay", "cancel", "find")
    for t in THINGS
]
SIZES = ["--epochs", 2, "--batch-size", 16, "--dimension", 8, "--vocabulary-size", 50, "--hash-bins", 5]
SMALL = [*SIZES, "--ngram-bins", 100]
CNN = [*SIZES, "--preset", "paper"]
BOTH = pytest.mark.parametrize("options", [SMALL, CNN], ids=["default", "paper"])


@pytest.fixture
def dataset(memory, make_training_data):
    return make_training_data(f"{memory}/d", CLUSTERS)


def files_of(url):
    return {f.path.split("/")[-1]: storage.read_bytes(f"{url}/{f.path}") for f in read_manifest(url, "model").files}


@BOTH
def test_it_writes_a_model_that_encodes(qpr, memory, dataset, options):
    outcome = qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *options, "--json")
    assert outcome.code == 0
    result = json.loads(outcome.out)
    # 12 train and 6 validation clusters of 3 questions have 3 pairs each
    assert (result["train_pairs"], result["train_questions"], result["train_clusters"]) == (36, 36, 12)
    assert (result["validation_pairs"], result["epochs"]) == (18, 2)
    assert load_encoder(f"{memory}/m").encode(["pay my bill"]).shape == (1, 8)
    assert "epoch 2: loss" in outcome.err


def test_the_model_holds_card_curve_and_metrics(qpr, memory, dataset):
    qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *CNN, "--windows", "2,3")
    files = files_of(f"{memory}/m")
    digest = read_manifest(dataset).digest
    assert digest in files["README.md"].decode()
    assert files["curve.png"].startswith(b"\x89PNG")
    *epochs, total = [json.loads(line) for line in files["metrics.jsonl"].splitlines()]
    assert [line["epoch"] for line in epochs] == [1, 2]
    assert epochs[0].keys() == {"epoch", "loss", "auc", "seconds", "pairs_per_s"}
    assert total["total"]["train_pairs"] == 36
    config = json.loads(files["config.json"])
    assert config["encoder"] == "cnn"
    assert config["shape"]["windows"] == [2, 3]
    assert config["dataset_digest"] == digest
    assert read_manifest(f"{memory}/m").inputs[0].digest == digest


@pytest.mark.parametrize(
    ("options", "has_validation", "rule"),
    [
        ((), True, "the last epoch, by --linear-decay"),
        (("--early-stopping",), True, "the epoch with the highest ROC AUC"),
        (("--early-stopping",), False, "the last epoch, without validation pairs"),
    ],
)
def test_output_and_card_name_the_rule_that_chose_the_epoch(
    qpr, memory, make_training_data, monkeypatch, options, has_validation, rule
):
    aucs = iter([0.9, 0.8])
    score = "model.training.pairs.pair_objective.PairObjective.validation_auc"
    if has_validation:
        monkeypatch.setattr(score, lambda *_: next(aucs))
    clusters = [row for row in CLUSTERS if has_validation or row[0] == "train"]
    dataset = make_training_data(f"{memory}/of-splits", clusters)
    outcome = qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *SMALL, *options, "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    is_first = rule == "the epoch with the highest ROC AUC"
    kept = (1, 0.9) if is_first else (2, 0.8 if has_validation else None)
    assert (result["kept_epoch"], result["auc"], result["kept"]) == (*kept, rule)
    card = files_of(f"{memory}/m")["README.md"].decode()
    assert f"| kept | {rule} |" in card
    assert f"| kept epoch | {kept[0]} |" in card


@BOTH
def test_the_same_command_gives_the_same_weights(qpr, memory, dataset, options):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert qpr("train", "--dataset", dataset, "--output", f"{memory}/{name}", *options, "--seed", seed).code == 0
    first, again, other = (files_of(f"{memory}/{name}") for name in "abc")
    for name in ("weights.safetensors", "vocabulary.txt", "config.json"):
        assert first[name] == again[name]
    assert first["weights.safetensors"] != other["weights.safetensors"]
    digests = [read_manifest(f"{memory}/{name}").digest for name in "abc"]
    assert digests[0] == digests[1] != digests[2]  # whatever the times and the name in the model's card


@BOTH
def test_a_learning_rate_that_leaves_no_finite_weight_writes_no_model(qpr, memory, dataset, options):
    outcome = qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *options, "--learning-rate", 1e30)
    assert outcome.code == 1
    assert "epoch 1, step" in outcome.err
    assert "Lower --learning-rate" in outcome.err
    assert not storage.exists(f"{memory}/m/manifest.json")


def configuration(qpr, memory, dataset, *options):
    assert qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *options, "--overwrite").code == 0
    return json.loads(files_of(f"{memory}/m")["config.json"])


def test_a_preset_is_what_an_option_is_by_default(qpr, memory, dataset):
    default = configuration(qpr, memory, dataset, *SMALL)
    assert (default["encoder"], default["shape"]["ngrams"]) == ("subword", [3, 4])
    assert default["training"]["loss"] == "multiple_negatives"
    assert default["training"] == configuration(qpr, memory, dataset, *SMALL, "--encoder", "subword")["training"]
    paper = configuration(qpr, memory, dataset, *CNN)
    assert (paper["encoder"], paper["training"]["loss"], paper["training"]["learning_rate"]) == ("cnn", "sdml", 1e-3)
    assert (paper["training"]["pairs_per_cluster"], paper["training"]["linear_decay"]) == (0, False)
    assert paper == configuration(qpr, memory, dataset, *SIZES, "--encoder", "cnn")


def test_presets_and_encoders_mix(qpr, memory, dataset):
    bag = configuration(qpr, memory, dataset, *CNN, "--encoder", "subword", "--ngram-bins", 9, "--ngrams", "2,5")
    assert (bag["encoder"], bag["shape"]["ngrams"], bag["training"]["loss"]) == ("subword", [2, 5], "sdml")
    network = configuration(
        qpr, memory, dataset, *SIZES, "--preset", "default", "--encoder", "cnn", "--learning-rate", 1e-3
    )
    assert (network["encoder"], network["training"]["loss"]) == ("cnn", "multiple_negatives")
    assert network["training"]["dropout"] == 0


@pytest.mark.parametrize(
    ("loss", "encoder", "warned"),
    [
        ("multiple_negatives", "cnn", True),
        ("online_contrastive", "cnn", True),
        ("sdml", "cnn", False),
        ("multiple_negatives", "subword", False),
    ],
)
def test_a_loss_that_ignores_lengths_is_a_warning_where_an_index_compares_them(
    qpr, memory, dataset, loss, encoder, warned
):
    given = ("--dataset", dataset, "--output", f"{memory}/m", *CNN, "--encoder", encoder, "--loss", loss)
    outcome = qpr("train", *given, *(["--ngram-bins", 9] if encoder == "subword" else []))
    assert outcome.code == 0
    assert (f"--loss {loss} compares directions alone" in outcome.err) == warned


def test_clusters_can_be_kept_apart_in_batches_of_the_whole_table(qpr, memory, dataset):
    assert configuration(qpr, memory, dataset, *CNN, "--unique-clusters")["training"]["unique_clusters"]


@BOTH
def test_batches_can_be_encoded_in_chunks_and_at_half_precision(qpr, memory, dataset, options):
    trained = configuration(qpr, memory, dataset, *options, "--chunk-size", 3, "--precision", "bfloat16")["training"]
    assert (trained["chunk_size"], trained["precision"]) == (3, "bfloat16")


LOSSES = [
    ["sdml", "--distance", "symmetric_kl", "--smoothing-over", "others", "--mates", "positives", "--symmetric"],
    ["multiple_negatives", "--one-sided", "--scale", 30],
    ["triplet", "--distance", "euclidean", "--negatives", "hard", "--margin", 0.7],
    ["online_contrastive", "--margin", 0.7],
]


@pytest.mark.parametrize("options", LOSSES, ids=[name for name, *_ in LOSSES])
def test_every_loss_trains_and_is_written_down(qpr, memory, dataset, options):
    trained = configuration(qpr, memory, dataset, *CNN, "--loss", *options)["training"]
    name, *rest = options
    assert trained["loss"] == name
    flags = {"--symmetric": True, "--one-sided": False}
    if flags.keys() & set(rest):
        assert trained["symmetric"] == ("--symmetric" in rest)
    given = [option for option in rest if option not in flags]
    for option, value in zip(given[::2], given[1::2], strict=True):
        assert trained[option.removeprefix("--").replace("-", "_")] == value


def test_a_model_is_replaced_only_on_request(qpr, memory, dataset):
    command = ["train", "--dataset", dataset, "--output", f"{memory}/m", *SMALL]
    assert qpr(*command).code == 0
    refused = qpr(*command)
    assert (refused.code, "--overwrite" in refused.err) == (1, True)
    assert qpr(*command, "--overwrite").code == 0


def test_no_validation_pair_and_a_large_batch_are_reported(qpr, memory, make_training_data):
    url = make_training_data(f"{memory}/t", [c for c in CLUSTERS if c[0] == "train"])
    outcome = qpr("train", "--dataset", url, "--output", f"{memory}/m", *SMALL, "--batch-size", 1000)
    assert outcome.code == 0
    assert "no validation pairs" in outcome.err
    assert "batch size reduced from 1,000 to 12, the number of train clusters" in outcome.err
    assert b"| batch size | 12 |" in files_of(f"{memory}/m")["README.md"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--batch-size", 1], "error: --batch-size: must be at"),
        (["--epochs", 0], "error: --epochs: must be at"),
        (["--smoothing", 1.0], "--smoothing 1.0"),
        (["--smoothing", -0.5], "error: --smoothing: must be at"),
        (["--learning-rate", 0], "--learning-rate 0"),
        (
            ["--distance", "cosine", "--loss", "sdml"],
            "'cosine' is not one of 'squared_euclidean', 'euclidean'",
        ),
        (["--loss", "cosine"], "'sdml', 'multiple_negatives', 'triplet', 'online_contrastive'"),
        (["--chunk-size", -1], "error: --chunk-size: must be at"),
        (["--precision", "float16"], "'float16' is not one of 'float32', 'bfloat16'"),
        (["--mates", "rivals"], "'rivals' is not one of 'masked', 'positives'"),
        (["--smoothing-over", "all"], "'all' is not one of 'batch', 'others'"),
        (
            ["--loss", "triplet", "--negatives", "soft"],
            "'soft' is not one of 'random', 'hard'",
        ),
        (["--loss", "triplet", "--margin", 0], "--margin 0"),
        (["--margin", 1], "--margin is no option of --loss multiple_negatives"),
        (["--loss", "sdml", "--scale", 9], "--scale is no option of --loss sdml"),
        (["--loss", "online_contrastive", "--symmetric"], "--symmetric is no option of --loss online_contrastive"),
        (["--loss", "triplet", "--smoothing", 0.1], "--smoothing is no option of --loss triplet"),
        (["--encoder", "lstm"], "'subword', 'static', 'cnn'"),
        (["--preset", "best"], "'default', 'static'"),
        (["--scale", 0], "--scale 0"),
        (["--dropout", 1], "--dropout 1"),
        (["--pairs-per-cluster", -1], "error: --pairs-per-cluster: must be at"),
        (["--ngrams", "3;4"], "--ngrams 3;4"),
        (["--ngrams", "0"], "--ngrams 0"),
        (["--ngram-bins", 0], "error: --ngram-bins: must be at"),
        (["--hash-bins", 0], "--hash-bins 0: --encoder subword needs at least 1"),
        (["--windows", "5"], "--windows is no option of --encoder subword"),
        (["--batch-size", 10**9], "error: --batch-size: must be at"),
    ],
)
def test_a_value_that_makes_no_sense_is_wrong_usage(qpr, memory, dataset, options, reason):
    outcome = qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *SMALL, *options)
    assert outcome.code == 2
    assert reason in outcome.err
    assert not storage.exists(f"{memory}/m")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--windows", "3;5"], "--windows 3;5"),
        (["--windows", "0"], "--windows 0"),
        (["--windows", "1000"], "--windows 1000"),
        (["--vocabulary-size", 0, "--hash-bins", 0], "error: --vocabulary-size and --hash-bins must not both be 0"),
        (["--dropout", 0.1], "--dropout is no option of --encoder cnn"),
        (["--ngrams", "3"], "--ngrams is no option of --encoder cnn"),
    ],
)
def test_a_value_that_makes_no_sense_for_the_convolution_is_wrong_usage(qpr, memory, dataset, options, reason):
    outcome = qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *CNN, *options)
    assert (outcome.code, reason in outcome.err) == (2, True)
    assert not storage.exists(f"{memory}/m")


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [([], "no train pair"), ([("test", ["a", "b"])], "no train pair"), ([("train", ["a", "b", "c"])], "one cluster")],
)
def test_a_dataset_that_teaches_nothing_fails(qpr, memory, make_training_data, clusters, reason):
    url = make_training_data(f"{memory}/t", clusters)
    outcome = qpr("train", "--dataset", url, "--output", f"{memory}/m", *SMALL)
    assert outcome.code == 1
    assert reason in outcome.err
    assert not storage.exists(f"{memory}/m")


def test_a_missing_dataset_and_a_missing_device_fail(qpr, memory, dataset):
    missing = qpr("train", "--dataset", f"{memory}/none", "--output", f"{memory}/m")
    assert (missing.code, "qpr clusters" in missing.err) == (1, True)
    device = qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *SMALL, "--device", "cuda:99")
    assert (device.code, "--device cpu" in device.err) == (1, True)


def test_questions_without_a_word_and_no_hash_bins_fail(qpr, memory, make_training_data):
    url = make_training_data(f"{memory}/t", [("train", ["#", "%", "+"]), ("train", ["&", "@"])])
    given = ["train", "--dataset", url, "--output", f"{memory}/m", *CNN, "--hash-bins", 0]
    outcome = qpr(*given)
    assert (outcome.code, "no train question has a word and there are no hash bins" in outcome.err) == (1, True)
    assert not storage.exists(f"{memory}/m")


@pytest.mark.parametrize("command", ["train", "distil"])
def test_a_missing_library_is_named_before_the_work(qpr, memory, dataset, make_model, monkeypatch, command):
    make_model(f"{memory}/teacher")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    teacher = ["--teacher", f"{memory}/teacher"] if command == "distil" else []
    outcome = qpr(command, "--dataset", dataset, "--output", f"{memory}/m", *teacher, *SMALL)
    assert (outcome.code, storage.children(f"{memory}/m")) == (1, [])
    assert outcome.err.startswith(f"error: `qpr {command}` needs matplotlib, which is not installed")
