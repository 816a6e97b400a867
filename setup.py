"""What pyproject.toml cannot say: all packages below adalib/, with data/ as adalib/data."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["adalib*"]), "adalib.data"],
    package_dir={"adalib.data": "data"},
)
