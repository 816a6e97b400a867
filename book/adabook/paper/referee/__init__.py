"""The referee's file: every item and every claim of the paper next to what we measured.

It belongs to the chapter "The referee" and to the replication, whose notebooks import it; the rest
of the package does not. `register` makes the two tables. The modules `rows_*` measure the rows of
one and `claims_*` decide on the claims of the other; `measures` computes what several of them
share, and `cells` compares printed numbers with ours.
"""
