"""The measurements behind the replication table and the verdicts on the paper's claims.

``record_referee.py`` runs them and records what they find. The modules `rows_*` measure the rows of
the table and `claims_*` what decides on the claims; `measures` computes what several of them share.
"""
