"""Where the book will be, and where its chapters run.

``ADALIB_BOOK_URL`` is the address of the published book, which links that are shared and the page
for what is not there need. ``GITHUB_REPOSITORY``, as GitHub's runners set it, or else the line
``adalib_repository`` of ``_config.yml``, is where its source is. Without them the pages say
neither.

Every lesson says below its title where its code runs; in the page itself, unless the metadata of
its notebook has ``"adalib": {"live": false}``. ``book/_static/live.js`` adds the buttons to the
cells that such a page shows and, at the first press, Python, which ``make live`` puts next to the
book (`editions.pyodide`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

from contents import lessons

CARD = "_static/card.png"
#: The branch that people edit, and the one where the published chapters are, for Colab.
BRANCH = "main"
CHAPTERS_BRANCH = "colab"


def settings(
    environment: Mapping[str, str], repository: str = ""
) -> tuple[dict[str, str], dict[str, object]]:
    """Return the settings of Sphinx and those of the theme; ``repository`` is an owner and a name.

    >>> settings({})
    ({'notfound_urls_prefix': '/', 'adalib_repository': ''}, {})
    >>> values, theme = settings({"ADALIB_BOOK_URL": "https://a.example/book"}, "one/two")
    >>> values["html_baseurl"], values["notfound_urls_prefix"], theme["repository_url"]
    ('https://a.example/book/', '/book/', 'https://github.com/one/two')
    """
    values = {"notfound_urls_prefix": "/"}
    if address := environment.get("ADALIB_BOOK_URL", "").rstrip("/"):
        values = {
            "html_baseurl": f"{address}/",
            "ogp_site_url": f"{address}/",
            "ogp_image": f"{address}/{CARD}",  # other sites show a picture by its whole address
            "notfound_urls_prefix": f"{urlsplit(address).path}/",
        }
    repository = environment.get("GITHUB_REPOSITORY") or repository
    values["adalib_repository"] = repository
    theme: dict[str, object] = {}
    if repository:
        theme = {
            "repository_url": f"https://github.com/{repository}",
            "repository_branch": BRANCH,
            "use_repository_button": True,
            "use_edit_page_button": True,
        }
    return values, theme


def issue_address(repository: str, pagename: str) -> str:
    """Return where a mistake on a page is reported, with the page filled in.

    >>> issue_address("one/two", "book/intro")
    'https://github.com/one/two/issues/new?template=mistake.md&title=Mistake%20on%20book/intro'
    """
    title = quote(f"Mistake on {pagename}")
    return f"https://github.com/{repository}/issues/new?template=mistake.md&title={title}"


def colab_address(repository: str, stem: str) -> str:
    """Return where Colab opens a published chapter.

    >>> colab_address("one/two", "03_budgets")
    'https://colab.research.google.com/github/one/two/blob/colab/03_budgets.ipynb'
    """
    github = f"github/{repository}/blob/{CHAPTERS_BRANCH}/{stem}.ipynb"
    return f"https://colab.research.google.com/{github}"


def wheel_name(version: str) -> str:
    """Return the name of the file that holds the package."""
    return f"adalib_book-{version}-py3-none-any.whl"


def wheel_address(repository: str, version: str) -> str:
    """Return where the release of a version has the package."""
    releases = f"https://github.com/{repository}/releases"
    return f"{releases}/download/v{version}/{wheel_name(version)}"


def read_environment(app, config) -> None:
    """Take address and repository from the environment, and the version from the package."""
    values, theme = settings(os.environ, config.adalib_repository)
    for name, value in values.items():
        setattr(config, name, value)
    config.html_theme_options = {**config.html_theme_options, **theme}
    project = (Path(app.srcdir) / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(project)["project"]["version"]
    config.html_context = {**config.html_context, "book_version": version}


def tell_issue(app, pagename, templatename, context, doctree) -> None:
    """Give the footer the address for a mistake on this page."""
    if app.config.adalib_repository:
        context["issue_address"] = issue_address(app.config.adalib_repository, pagename)


def find_live_pages(app) -> None:
    """Ask the registry once which lessons have live cells, and which have not."""
    app.runs_live = {page.name: page.runs_live for page in lessons(Path(app.srcdir))}


def say_where_it_runs(app, doctree, docname) -> None:
    """Say above a chapter's first cell of code where it runs."""
    if docname not in app.runs_live:
        return
    here = app.runs_live[docname]
    page = "in this page, " if here else ""
    line = nodes.paragraph("", f"Runs {page}in JupyterLab (the download above)")
    line["classes"].append("adalib-runs")
    if repository := app.config.adalib_repository:
        stem = docname.rpartition("/")[2]
        colab = nodes.reference("", "Colab", refuri=colab_address(repository, stem))
        line += [nodes.Text(" and on "), colab]
    line += nodes.Text("." if here else "; it uses XGBoost, which no browser runs.")
    # A fold stands between the cell and its code; where all are folded, the first of them will do.
    code = [node for node in doctree.findall(nodes.container) if "cell_input" in node["classes"]]
    shown = [node.parent for node in code if not isinstance(node.parent, HideCodeCellNode)]
    cell = (shown or [code[0].parent.parent])[0]
    cell.parent.insert(cell.parent.index(cell), line)


def mark_live(app, pagename, templatename, context, doctree) -> None:
    """Add the scripts and a mark to a page with live cells."""
    if doctree and app.runs_live.get(pagename):
        app.add_js_file("live.js", loading_method="defer")
        app.add_css_file("live.css")
        # Other scripts ask for it.
        mark_of_page = '<meta name="adalib-live" content="yes">\n'
        context["metatags"] = context.get("metatags", "") + mark_of_page


def setup(app) -> dict:
    app.add_config_value("adalib_repository", "", "html", str)
    app.connect("config-inited", read_environment)
    app.connect("builder-inited", find_live_pages)
    app.connect("doctree-resolved", say_where_it_runs)
    app.connect("html-page-context", mark_live)
    app.connect("html-page-context", tell_issue)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
