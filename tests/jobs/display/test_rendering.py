import subprocess
import sys

import jinja2
import pytest

from jobs.display.rendering import render


def test_a_value_that_is_not_passed_is_an_error():
    with pytest.raises(jinja2.UndefinedError):
        render("report.html")


@pytest.mark.parametrize("command", ["--help", "clusters --help"])
def test_help_search_and_tables_import_neither_templates_nor_charts(command):
    code = (
        "import sys, contextlib\nfrom jobs.cli import main\n"
        f"with contextlib.suppress(SystemExit): main({command.split()})\n"
        "import jobs.commands.indexes.search, jobs.commands.datasets.sample\n"
        "import jobs.display.sample_formats, jobs.workflows.dataset\n"
        "print({'jinja2', 'leather', 'markupsafe'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "set()"
