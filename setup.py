"""What pyproject.toml cannot say: every package below adalib/, data/ shipped inside the wheel as adalib/data, and the
book's own packages, which its notebooks import: the games, and the referee's file."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["adalib*"]), "adalib.data", "games", "referee"],
    package_dir={"adalib.data": "data", "games": "book/games", "referee": "book/referee"},
)
