"""Errors that a user can cause and correct: one sentence each, never a traceback."""

from __future__ import annotations

import importlib.util
import re
from typing import Final

_OUT_OF_MEMORY = re.compile("can't allocate memory|out of memory")
"""Messages of PyTorch, on a processor or a graphics card."""


NO_WINDOWS: Final = "qpr does not run on Windows. Install it in WSL, the Windows Subsystem for Linux"


class QprError(Exception):
    """An error that the user can correct; the message names the place, the cause and the next step.

    Attributes:
        exit_code: of a command that ends with it.
    """

    exit_code = 1


class UsageError(QprError):
    """A wrong command line."""

    exit_code = 2


class FilterError(UsageError):
    """Values of columns to filter by that do not fit an index; the only argument is the fault without its place."""

    def __str__(self) -> str:
        """Return the fault after the name of the argument of programs."""
        return f"filters: {self.fault}"

    @property
    def fault(self) -> str:
        """Return the fault without a place, which differs between programs, options and files of requests."""
        return str(self.args[0])


class BadDropError(QprError):
    """Rows of a day or a window that cannot be used as they are: no run succeeds before somebody mends them."""

    exit_code = 4


class UnusableInputError(QprError):
    """Input of which nothing is made: too many rows are rejected, no cluster is left, or there is nothing to learn."""


class WrongColumnsError(QprError):
    """A file that can be read, but not its columns: one is missing, there twice, or holds objects."""


class MissingColumnsError(WrongColumnsError):
    """A file without columns that are needed; the arguments are the cause and the next step."""

    def __str__(self) -> str:
        """Return the cause and the next step."""
        return f"{self.cause}. {self.args[1]}"

    @property
    def cause(self) -> str:
        """Return the file and its missing columns."""
        return str(self.args[0])


class GoneError(QprError):
    """A file that a manifest lists is missing: it was deleted, or another version was published meanwhile."""


class DamagedError(QprError):
    """A manifest or a checkpoint whose bytes differ from the written ones."""


EXTRA_OF_MODULE: Final = {
    "apache_beam": "beam",
    "cryptography": "beam",
    "networkx": "beam",
    "scipy": "beam",
    "lightgbm": "calibrate",
    "matplotlib": "calibrate",  # `train` has it as well, and gigabytes of PyTorch
    "sklearn": "calibrate",
    "torch": "train",
    "faiss": "index",
    "threadpoolctl": "index",
    "fastapi": "serve",
    "httptools": "serve",
    "orjson": "serve",
    "prometheus_client": "serve",
    "starlette": "serve",
    "uvicorn": "serve",
    "uvloop": "serve",
}
"""Extra of `setup.py` that brings each module that a command may lack."""


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra of `setup.py`; the package is on no index, so it runs in a clone."""
    return f"Run in a clone of question-paraphrase-retrieval: pip install '.[{extra}]'"


def check_installed(*modules: str) -> None:
    """Check, without an import, that all libraries that a long run needs at its end are installed.

    Raises:
        ModuleNotFoundError: one is not; commands answer it with the extra that brings it.
    """
    for name in modules:
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error reports too little memory."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and bool(_OUT_OF_MEMORY.search(str(error)))
    )
