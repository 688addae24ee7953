"""A script for every figure of the documentation, on the shared command line of cli.py and measure.py."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as `qpr` does: a waiting thread uses no CPU time
