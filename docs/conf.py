"""Sphinx configuration. ``make docs`` builds the pages, without network."""

import os
import sys
from pathlib import Path

from calibrant import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "calibrant"
author = "The calibrant developers"
copyright = author  # noqa: A001 (Sphinx's name)
version = release = __version__

extensions = [
    "command_line",
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
# Single backticks in docstrings link to what they name, where it is in the reference.
default_role = "py:obj"
autodoc_typehints = "none"  # types are in the docstrings, in words
numpydoc_show_class_members = False  # the template of classes lists them

# Names of other projects become links only if their inventories can be fetched: the docs are
# built without network by default, and warnings are errors.
if os.environ.get("CALIBRANT_DOCS_ONLINE"):
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "joblib": ("https://joblib.readthedocs.io/en/stable", None),
        "matplotlib": ("https://matplotlib.org/stable", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "ExampleTitleSortKey",
    "download_all_examples": False,
    "capture_repr": (),
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": 3600,
    "write_computation_times": False,  # its pages load scripts from the network
    "image_srcset": ["2x"],
}

html_theme = "pydata_sphinx_theme"
html_title = "calibrant"
html_static_path = ["_static"]
html_css_files = ["calibrant.css"]
html_show_sourcelink = False
html_sidebars = {
    page: [] for page in ("start", "choosing", "replication", "performance", "changelog")
}
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
}


def setup(app):
    """Leave out what classes inherit from scikit-learn and enumerations from str."""
    app.connect("autodoc-skip-member", _is_inherited)


def _is_inherited(_app, _what, name, member, _skip, _options):
    from_sklearn = str(getattr(member, "__module__", "")).startswith("sklearn.")
    return True if from_sklearn or getattr(str, name, None) is member else None
