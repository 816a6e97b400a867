"""Policies on the scoreboard that are written as a reader would write them, each in a few lines.

Every file can be given to `adalib evaluate --policy`, and the scoreboard runs all of them.
"""
