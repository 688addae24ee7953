"""Packaging; Beam stages this file's sdist on workers, so it reads nothing beside the version."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "schemas" / "__init__.py").read_text()).group(1)

EXTRAS = {
    "beam": ["apache-beam>=2.72,<3", "cryptography>=42"],
    "dataflow": ["apache-beam[gcp]>=2.72,<3", "gcsfs>=2025.7"],
    "calibrate": ["lightgbm>=4.5", "matplotlib>=3.9", "scikit-learn>=1.5", "threadpoolctl>=3.7"],
    "train": ["torch>=2.6", "threadpoolctl>=3.7", "matplotlib>=3.9"],
    "index": ["faiss-cpu>=1.15.1", "threadpoolctl>=3.7"],
    "fast": ["numba>=0.60"],
    "static": ["tokenizers>=0.20", "wordllama>=0.4"],
    "qdrant": ["qdrant-client>=1.13"],
    "transformers": ["sentence-transformers>=6"],
    "serve": [
        "faiss-cpu>=1.15.1",
        "fastapi>=0.115.8",
        "httptools>=0.7.1",
        "orjson>=3.10",
        "prometheus_client>=0.21",
        "starlette>=0.45",
        "threadpoolctl>=3.7",
        "uvicorn>=0.53",  # earlier ones keep a connection open after `Connection: …, close`
        "uvloop>=0.21; sys_platform != 'win32'",
    ],
}
DEV_EXTRAS = ("beam", "calibrate", "train", "index", "fast", "qdrant", "serve")
DEV = [
    "bm25s>=0.2",
    "httpx2>=2",
    "hypothesis>=6.100",
    "import-linter>=2.1",
    "mapie>=1.2",
    "ir-measures>=0.3.7",
    "langchain-core>=1",
    "moto[server]>=5",
    "mypy>=2.4",
    "playwright>=1.49",
    "polars>=1.20",
    "psutil>=6",
    "pytest>=8",
    "pytest-xdist>=3.6",
    "PyYAML>=6",
    "redisvl>=0.4",
    "ruff>=0.8",
    "s3fs>=2025.7",
    "schemathesis>=4",
    "tokenizers>=0.20",
    "types-networkx",
    "wheel",
]

setup(
    name="question-paraphrase-retrieval",
    version=VERSION,
    description="From question-answering logs to a searchable index of question paraphrases, without hand labels.",
    long_description=(
        "Groups logged questions by their answer, keeps the coherent groups, trains a sentence encoder on them with "
        "smoothed deep metric learning and serves the questions from FAISS shards."
    ),
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    packages=find_packages(include=["schemas*", "pipelines*", "model*", "jobs*", "qpr*"]),
    package_data={
        "schemas": ["py.typed"],
        "pipelines": [
            "py.typed",
            "linkage/scoring/learned/*.json",
            "linkage/scoring/learned/*.parquet",
            "linkage/scoring/learned/*.txt",
            "simulation/data/*.json",
        ],
        "model": [
            "py.typed",
            "guards/*.json",
            "guards/actions/*.json",
            "guards/actions/*.parquet",
            "guards/answer_types/*.json",
            "guards/entities/*.json",
            "guards/entities/*.parquet",
            "guards/entities/*.txt",
            "guards/languages/*.json",
            "guards/languages/glossing/*.json",
        ],
        "jobs": ["py.typed", "display/templates/*"],
        "qpr": ["py.typed"],
    },
    install_requires=[  # also all that the steps of `qpr clusters` and `qpr quora` import: workers get no extras
        "fsspec>=2025.7",
        "Jinja2>=3.1",
        "leather>=0.4",
        "MarkupSafe>=2.1",
        "networkx>=3.2",
        "numpy>=2.0",
        "pyarrow>=21",
        "pydantic>=2.10",
        "rich>=14.3",
        "safetensors>=0.4.3",
        "scipy>=1.15",
        "typer>=0.29",
        "typing_extensions>=4.14",
    ],
    extras_require={**EXTRAS, "dev": sorted({*DEV, *(need for name in DEV_EXTRAS for need in EXTRAS[name])})},
    entry_points={"console_scripts": ["qpr = jobs.cli:main"]},
)
