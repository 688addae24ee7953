import subprocess
import sys

AFTER_A_FORK = """
import os, signal
import faiss
import numpy as np
from model.index import arithmetic

faiss.omp_set_num_threads(2)
index, asked = faiss.IndexFlatL2(4), np.zeros((100, 4), np.float32)
index.add(asked)
index.search(asked, 1)
child = os.fork()
if not child:
    signal.alarm(20)
    index.search(asked, 1)
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_that_is_forked_after_a_search_of_a_batch_searches_batches():
    from_python_3_12 = "ignore:This process:DeprecationWarning"
    command = [sys.executable, "-W", from_python_3_12, "-c", AFTER_A_FORK]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
