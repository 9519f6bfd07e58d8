"""Settings of Sphinx; `build.py` runs it."""

import kinfolk

project = "kinfolk"
author = "The kinfolk developers"
copyright = "the kinfolk developers"
version = release = kinfolk.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
html_theme = "alabaster"
html_theme_options = {
    "description": "Many related tasks, learned together, with a proof",
    "page_width": "1100px",
    "body_max_width": "none",
}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
exclude_patterns: list[str] = []
# Code blocks of the command's output are no language.
highlight_language = "none"
