"""The referee's file: every item and every claim of the paper beside what we measured.

It belongs to the chapter "The referee", and to the replication, not to the library: `adalib` does not import it. It is
installed with the book and travels in the wheel, so that both notebooks run anywhere. `register` makes the two tables;
`claims`, `rows_theory` and `rows_results` measure; `measures` computes what several of them share.
"""
