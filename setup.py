"""What pyproject.toml cannot say: every package below adalib/, and data/ shipped inside the wheel
as adalib/data."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["adalib*"]), "adalib.data"],
    package_dir={"adalib.data": "data"},
)
