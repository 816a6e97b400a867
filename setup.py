"""What pyproject.toml cannot say: the packages, and data/ as adalib/data."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["adalib*"]),
        *find_packages("book", include=["adabook*"]),
        "adalib.data",
    ],
    package_dir={"adalib.data": "data", "adabook": "book/adabook"},
)
