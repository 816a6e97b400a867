"""What pyproject.toml cannot say: every package below adalib/, data/ shipped inside the wheel as adalib/data, and the
book's own package, which the notebooks of chapter 12 and the replication import."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["adalib*"]), "adalib.data", "referee"],
    package_dir={"adalib.data": "data", "referee": "book/referee"},
)
