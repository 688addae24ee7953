"""The index that autofaiss makes of some vectors, built by a Python that has autofaiss, such as one of another folder.

Run: PYTHON autofaiss_index.py FOLDER INDEX.faiss MEGABYTES

The vectors are in the .npy files of the folder. It prints the CPU seconds of the build, and imports nothing of this
project, since autofaiss needs other versions of its packages.
"""

from __future__ import annotations

import sys
import time


def main(vectors: str, target: str, megabytes: str) -> None:
    """Write the index of the vectors of a folder."""
    import faiss
    from autofaiss import build_index

    started = time.process_time()
    made, _ = build_index(
        vectors,
        save_on_disk=False,
        max_index_memory_usage=f"{megabytes}MB",
        current_memory_available=f"{2 * int(megabytes)}MB",  # the index and what its build takes
        metric_type="l2",
        max_index_query_time_ms=5.0,
        verbose=30,
    )
    spent = time.process_time() - started
    faiss.write_index(made, target)
    print(spent)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
