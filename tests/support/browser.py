"""Chromium as the system has it, since a browser is no package of Python."""

import shutil

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
