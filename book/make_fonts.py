"""Cut the book's fonts, as WOFF2, out of Adobe's Source family, STIX Two Math and Font Awesome.

The fonts that it writes are kept in book/fonts, so that nobody needs to run this but who adds a
character. It wants the npm packages `source-serif`, `source-sans` and `source-code-pro` and the
wheel of `ziamath`, unpacked, the theme's icons, and fonttools with brotli:

    python book/make_fonts.py FOLDER_OF_THE_PACKAGES

The licence (OFL 1.1) reserves the name "Source" for the whole fonts: the parts are called Adalib
Serif, Sans and Mono, that of STIX Two Math, Adalib Math, and that of Font Awesome, Adalib Icons.
"""

from __future__ import annotations

import sys
from importlib.resources import files as resources
from pathlib import Path
from tempfile import TemporaryDirectory

from fontTools.merge import Merger
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

TARGET = Path(__file__).parent / "fonts"
# Latin with its accents, Greek, combining marks, punctuation, digits above and below.
LETTERS = "20-7e a0-17f 2c6-2dd 300-308 391-3c9 2010-205e 2070-2094 2122 2212 2248 2260-2265"
# Currencies, fractions, arrows, mathematics, boxes and marks: a text in the serif borrows them from
# the sans.
SIGNS = "20a0-20bf 2116 2150-215e 2190-2199 2200-22ff 2308-230b 2500-257f 25a0-25ff 2713-2718"
SERIF = "source-serif/package/VAR/SourceSerif4Variable"
# Letters of formulas, upright, italic, bold, script and double-struck, Greek ones, and signs.
FORMULAS = (
    "20-7e a0 ac af b1 b7 d7 f7 131 237 2c6 2c7 2d8-2dc 302-308 30c 332 338 391-3c9 3d1 3d5 "
    "3f0 3f1 3f5 2013-2016 2018-201d 2026 2032-2034 203e 2061-2064 20d7 210b-2115 2119-211d "
    "2124 212c 2130-2133 2190-2194 21a6 21d0-21d4 2200-2209 2211-2213 2217-221e 2223-222b "
    "2237 223c 2243-2248 2260-2265 226a 226b 2282-2287 22a4 22a5 22c0-22c6 22ee-22f1 "
    "2308-230b 23de 23df 27e8 27e9 2a7d 2a7e 1d434-1d467 1d49c-1d4b5 1d538-1d551 1d6e2-1d71b "
    "1d7ce-1d7d7"
)
STIX = "ziamath/fonts/STIXTwoMath-Regular.ttf"
FONTS = {
    "serif": (f"{SERIF}-Roman.ttf", "Adalib Serif", LETTERS),
    "serif-italic": (f"{SERIF}-Italic.ttf", "Adalib Serif", LETTERS),
    "sans": (
        "source-sans/package/VF/SourceSans3VF-Upright.ttf",
        "Adalib Sans",
        f"{LETTERS} {SIGNS}",
    ),
    "mono": (
        "source-code-pro/package/VF/SourceCodeVF-Upright.ttf",
        "Adalib Mono",
        f"{LETTERS} {SIGNS}",
    ),
    "math": (STIX, "Adalib Math", FORMULAS),
}
# ssty draws primes and indices, dtls takes the dot off an i under a hat, flac flattens the hat.
FEATURES = ["kern", "liga", "mark", "mkmk", "ccmp", "tnum", "lnum", "ssty", "dtls", "flac"]
WEIGHTS = (400, 700)
# Bold italics and bold code are rare enough for a browser to thicken the letters by itself.
ONE_WEIGHT = ("serif-italic", "mono")
# Icons of the theme's buttons and links, by the font that has them.
ICONS = {
    "fa-solid-900": (
        "f002 f00d f010 f015 f019 f03a f042 f057-f058 f05a f062 f064 f06a f071 f078 f0c9 f0eb f0f3 "
        "f104-f105 f107 f15b f185-f186 f1c1 f303 f35d"
    ),
    "fa-brands-400": "f09b",
}
WEBFONTS = "theme/pydata_sphinx_theme/static/vendor/fontawesome/webfonts"
TEXT_SIZE = 14  # points: the drawing of the letters, where a font has one for every size


def cut(source: Path, family: str, ranges: str, weights: tuple[int, int] | int = WEIGHTS) -> TTFont:
    """A part of a font, under its own name."""
    font = TTFont(source)
    for lookup in font["GSUB"].table.LookupList.Lookup if "GSUB" in font else ():
        for table in (
            lookup.SubTable
        ):  # one drawing for indices; those of indices are as rare as bold italics
            for drawings in getattr(table, "alternates", {}).values():
                del drawings[1:]
    subsetter = Subsetter(Options(layout_features=FEATURES, hinting=False))
    for ends in ranges.split():
        low, _, high = ends.partition("-")
        subsetter.populate(unicodes=range(int(low, 16), int(high or low, 16) + 1))
    subsetter.subset(font)
    if "fvar" in font:
        has_sizes = any(axis.axisTag == "opsz" for axis in font["fvar"].axes)
        sized = {"opsz": TEXT_SIZE} if has_sizes else {}
        font = instantiateVariableFont(font, {"wght": weights, **sized})
    return renamed(font, family)


def renamed(font: TTFont, family: str) -> TTFont:
    """The font, packed and with the name of a part."""
    for record in font["name"].names:
        if record.nameID in (1, 3, 4, 6, 16, 25):
            record.string = family if record.nameID in (1, 4, 16) else family.replace(" ", "")
    font.flavor = "woff2"
    return font


def cut_icons(folder: Path) -> TTFont:
    """The theme's icons in one font; ``folder`` takes the two that it is made of."""
    webfonts = Path(str(resources("pydata_sphinx_theme"))) / WEBFONTS
    parts = [folder / f"{name}.ttf" for name in ICONS]
    for part, (name, ranges) in zip(parts, ICONS.items(), strict=True):
        font = cut(webfonts / f"{name}.woff2", "Adalib Icons", ranges)
        font.flavor = None
        font.save(part)
    return renamed(Merger().merge(parts), "Adalib Icons")


if __name__ == "__main__":
    for name, (path, family, ranges) in FONTS.items():
        weights = 400 if name in ONE_WEIGHT else WEIGHTS
        cut(Path(sys.argv[1]) / path, family, ranges, weights).save(TARGET / f"{name}.woff2")
    with TemporaryDirectory() as folder:
        cut_icons(Path(folder)).save(TARGET / "icons.woff2")
    for file in sorted(TARGET.glob("*.woff2")):
        print(file, file.stat().st_size)
