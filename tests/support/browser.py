"""Chromium as the system has it, since a browser is no package of Python."""

import shutil

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

NO_STORAGE = """
for (const name of ["sessionStorage", "localStorage"]) {
    Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });
}
"""
"""Script of a browser that blocks the data of sites, and with it their storage."""
