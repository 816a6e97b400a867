"""The colours of the book's figures, games and verdicts, by what they mean."""

from adalib.colours import MEANINGS as IN_THE_PACKAGE

#: One colour per meaning. The style sheet book/_static/custom.css repeats the table as variables of
#: the same names. "wrong" has a red of its own, because the orange of Okabe and Ito is the price.
MEANINGS = {
    **IN_THE_PACKAGE,
    "right": "#009E73",
    "wrong": "#C8384A",
    "wrong-too": "#E69F00",
    "corrected": "#56B4E9",
    "claimed": "#E69F00",
    "unsupported": "#E69F00",
    "open": "#8C8C8C",
}
