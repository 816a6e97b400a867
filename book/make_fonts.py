"""Cut the book's fonts out of Adobe's Source family, weights 400 to 700, as WOFF2.

The fonts that it writes are kept in book/fonts, so that nobody needs to run this but who adds a
character. It wants the npm packages `source-serif`, `source-sans` and `source-code-pro`, unpacked,
and fonttools with brotli:

    python book/make_fonts.py FOLDER_OF_THE_PACKAGES

The licence (OFL 1.1) reserves the name "Source" for the whole fonts: the parts are called Adalib
Serif, Sans and Mono.
"""

from __future__ import annotations

import sys
from pathlib import Path

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
}
TEXT_SIZE = 14  # points: the drawing of the letters, where a font has one for every size


def cut(source: Path, family: str, ranges: str) -> TTFont:
    """A part of a variable font, under its own name."""
    font = TTFont(source)
    options = Options(
        layout_features=["kern", "liga", "mark", "mkmk", "ccmp", "tnum", "lnum"], flavor="woff2"
    )
    subsetter = Subsetter(options)
    for ends in ranges.split():
        low, _, high = ends.partition("-")
        subsetter.populate(unicodes=range(int(low, 16), int(high or low, 16) + 1))
    subsetter.subset(font)
    sized = {"opsz": TEXT_SIZE} if any(axis.axisTag == "opsz" for axis in font["fvar"].axes) else {}
    font = instantiateVariableFont(font, {"wght": (400, 700), **sized})
    for record in font["name"].names:
        if record.nameID in (1, 3, 4, 6, 16, 25):
            record.string = family if record.nameID in (1, 4, 16) else family.replace(" ", "")
    font.flavor = "woff2"
    return font


if __name__ == "__main__":
    for name, (path, family, ranges) in FONTS.items():
        file = TARGET / f"{name}.woff2"
        cut(Path(sys.argv[1]) / path, family, ranges).save(file)
        print(file, file.stat().st_size)
