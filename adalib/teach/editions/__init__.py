"""Editions of the book from one source: the student's without solutions, and notebooks that read well in JupyterLab.

``python -m adalib.teach.editions`` writes them; ``make student``, ``make instructor`` and ``make lab`` call it.
Explained in the teaching page, "How to teach with it".
"""
