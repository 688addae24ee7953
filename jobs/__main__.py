"""``python -m jobs`` is ``qpr``, for when the console script is not on the path."""

from jobs.cli import main

main()
