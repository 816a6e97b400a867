"""Read answers, say when two are equal, count votes, and estimate how often a vote is right."""

from adalib.extras import tell_callers

tell_callers(__name__, 'call adalib.majority(["7", "8", "7"])')
