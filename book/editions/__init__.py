"""Editions of the book from one source: student's, live notebooks, slides, one PDF.

``PYTHONPATH=book python -m editions NAME`` writes one; ``make student``, ``instructor``, ``lab``,
``slides`` and ``pdf`` call it. Explained in the teaching page, "How to teach with it".
"""
