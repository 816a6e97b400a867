"""Editions of the book from one source: the student's without solutions, live notebooks, slides,
one PDF.

``PYTHONPATH=book python -m editions NAME`` writes one; ``make student``, ``instructor``, ``lab``,
``slides`` and ``pdf`` call it. Explained in the teaching page, "How to teach with it".
"""
