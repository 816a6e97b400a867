"""TeX becomes MathML while the book is built.

MathJax reads the TeX, in a JavaScript engine that installs as a wheel (``dukpy``). So the
pages need no MathJax, and the build needs no Node. (The ``sphinx-mathjax-offline`` package is used
for its files alone; as an extension it would copy 24 MB.)
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.metadata import files
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring, tostring

from dukpy import JSInterpreter

# The parts of MathJax that read TeX; "liteDOM" stands in for a browser's document.
PARTS = ("loader.js", "core.js", "adaptors/liteDOM.js", "input/tex.js")
BEFORE = """
var globalThis = this;
globalThis.window = globalThis;
globalThis.MathJax = {loader: {load: [], ready: function () {}}};
"""
AFTER = """
var core = MathJax._.core;
MathJax._.handlers.html_ts.RegisterHTMLHandler(MathJax._.adaptors.liteAdaptor.liteAdaptor());
var reader = new MathJax._.input.tex_ts.TeX({packages: ["base", "ams"]});
var page = MathJax._.mathjax.mathjax.document("", {InputJax: reader});
var writer = new core.MmlTree.SerializedMmlVisitor.SerializedMmlVisitor();
function toMathML(tex, display) {
  return writer.visitTree(page.convert(tex, {display: display, end: core.MathItem.STATE.CONVERT}));
}
"""
END = "\n;null"  # what a script returns must be data
# How Unicode names the letters of a style. Browsers know no other way to write them.
STYLES = {
    "bold": ("MATHEMATICAL BOLD",),
    "script": ("MATHEMATICAL SCRIPT", "SCRIPT"),
    "double-struck": ("MATHEMATICAL DOUBLE-STRUCK", "DOUBLE-STRUCK"),
}
ACCENTS = {"^": "ˆ", "¯": "¯", "~": "˜"}  # as MathJax writes them, as a browser centres them
# As fonts stretch them over a word.
WIDE = {"^": "\N{COMBINING CIRCUMFLEX ACCENT}", "~": "\N{COMBINING TILDE}", "―": "‾"}
APPLY = "\N{FUNCTION APPLICATION}"
PRIMES = "′″‴"
NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'


class FormulaError(ValueError):
    """A formula that MathJax cannot read."""


@cache
def _engine() -> JSInterpreter:
    """MathJax, loaded once for all formulas."""
    folder = next(
        Path(f.locate()).parent for f in files("sphinx-mathjax-offline") or () if f.name == PARTS[0]
    )
    engine = JSInterpreter()
    sources = [(folder / part).read_text(encoding="utf-8") for part in PARTS]
    for source in [BEFORE, *sources, AFTER]:
        engine.evaljs(source + END)
    return engine


def _letter(letter: str, style: str) -> str:
    """Write a letter or digit in one of Unicode's mathematical styles.

    >>> _letter("B", "script") + _letter("E", "double-struck") + _letter("1", "bold")
    'ℬ𝔼𝟏'
    """
    name = unicodedata.name(letter).replace("LATIN ", "").replace(" LETTER", "")
    for prefix in STYLES[style]:
        try:
            return unicodedata.lookup(f"{prefix} {name}")
        except KeyError:
            continue
    raise FormulaError(f"there is no {style} {letter}")


def _for_browsers(formula: Element) -> None:
    """Say in MathML Core, which browsers draw, what MathJax says in the whole of MathML."""
    for part in list(formula.iter()):
        for name in [name for name in part.attrib if name.startswith("data-mjx-")]:
            del part.attrib[name]
        style = part.get("mathvariant", "normal")
        if style != "normal":
            del part.attrib["mathvariant"]
            part.text = "".join(_letter(letter, style) for letter in part.text or "")
        if part.tag == "mover" and part[1].text in ACCENTS | WIDE:
            part.set("accent", "true")
            wide = part[1].get("stretchy") != "false"
            part[1].text = (WIDE if wide else ACCENTS).get(part[1].text, part[1].text)
            part[1].set("stretchy", "true" if wide else "false")
        text = part.text or ""
        if part.tag == "mo" and len(text) > 1 and text.isalpha():  # max, log
            part.set("lspace", "0")
            part.set("rspace", "0.17em")
        if part.tag == "mo" and text in ("|", "/"):  # a browser takes them for relations
            part.set("lspace", "0")
            part.set("rspace", "0")
        for sign, next_part in zip(part, part[1:], strict=False):
            if sign.text == APPLY and next_part.tag != "mo":  # log x, but log(x)
                sign.set("rspace", "0.17em")
        if part.tag in ("msup", "msubsup") and set(part[-1].text or "") <= set(PRIMES):
            _prime_beside(part)


def _prime_beside(part: Element) -> None:
    """Set a prime beside its letter: fonts draw it raised, and browsers would raise it again."""
    prime = part[-1]
    if prime.tag != "mo":
        return
    part.remove(prime)
    prime.set("lspace", "0")
    prime.set("rspace", "0")
    if part.tag == "msubsup":
        letter = Element("msub")
        letter.extend(part[:])
        part[:] = [letter]
    part.tag = "mrow"
    part.append(prime)


@cache
def to_mathml(tex: str, display: bool = False) -> str:
    r"""Write a formula as MathML, on one line.

    >>> print(to_mathml(r"b \in \mathcal{B}"))
    <math><mi>b</mi><mo>∈</mo><mrow><mi>ℬ</mi></mrow></math>
    >>> print(to_mathml("b'"))
    <math><mrow><mi>b</mi><mo lspace="0" rspace="0">′</mo></mrow></math>
    """
    mathml = _engine().evaljs("toMathML(dukpy.tex, dukpy.display)", tex=tex, display=display)
    formula = fromstring(re.sub(r"\s*\n\s*", "", mathml).replace(NAMESPACE, ""))
    unread = formula.find(".//merror")
    if unread is not None:
        raise FormulaError(f"{unread.get('data-mjx-error')}: {tex}")
    _for_browsers(formula)
    return tostring(formula, encoding="unicode")
