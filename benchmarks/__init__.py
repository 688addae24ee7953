"""Benchmarks: a script for every figure of the documentation."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as `qpr` does: a waiting thread uses no CPU time
