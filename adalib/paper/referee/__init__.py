"""The referee's file: every item and every claim of the paper beside what we measured.

It belongs to the chapter "The referee" and to the replication, whose notebooks import it; the rest
of the package does not. `register` makes the two tables; `claims`, `rows_theory` and `rows_results`
measure; `measures` computes what several of them share.
"""
