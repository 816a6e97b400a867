"""What the book adds to Sphinx: an extension a module, each with one job.

``_config.yml`` lists them and says beside each what it is for.
"""
