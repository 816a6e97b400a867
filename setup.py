"""What pyproject.toml cannot say: the packages, and data/ as adalib/data, without its scripts."""

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py


class WithoutScripts(build_py):
    """Of data/, an installation needs what is read, not the scripts that made it."""

    def find_package_modules(self, package, package_dir):
        """List the modules of a package; the scripts of data/ are none."""
        modules = super().find_package_modules(package, package_dir)
        return [] if package == "adalib.data" else modules


setup(
    packages=[
        *find_packages(include=["adalib*"]),
        *find_packages("book", include=["adabook*"]),
        "adalib.data",
    ],
    package_dir={"adalib.data": "data", "adabook": "book/adabook"},
    cmdclass={"build_py": WithoutScripts},
)
