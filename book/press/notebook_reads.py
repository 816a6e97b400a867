"""In a notebook's kernel, write down what of the project it reads: modules, records, folders.

The build runs this file in the kernel before the first cell (``book/press/run_notebooks.py``).
Python tells an audit hook of every file that is opened and every folder that is listed; those of
the project are appended to a record, a line each. A process of its own would read unseen, so a
notebook that starts one has read everything.
"""

import importlib.util
import os
import sys

#: The line of a notebook that may have read anything.
EVERYTHING = "*"


def watch(record: str, root: str, parts: list[str]) -> None:
    """From now on, append to ``record`` what is read of the ``parts`` of the folder ``root``."""
    folders = tuple(os.path.join(root, part) + os.sep for part in parts)
    file = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seen: set[str] = set()

    def note(line: str) -> None:
        if line not in seen:
            seen.add(line)
            os.write(file, f"{line}\n".encode())

    def is_import(frame) -> bool:
        return frame.f_code.co_filename.startswith("<frozen importlib")

    def read(event: str, words: tuple) -> None:
        if event == "open" and isinstance(words[0], (str, os.PathLike)):
            path = os.path.abspath(words[0])
            if path.startswith(folders):
                is_compiled = path.endswith(".pyc")
                note(importlib.util.source_from_cache(path) if is_compiled else path)
        elif event in ("os.listdir", "os.scandir") and isinstance(words[0], (str, os.PathLike)):
            path = os.path.abspath(words[0])
            # An import lists the folder to find one module of it, and reads that one.
            if (path + os.sep).startswith(folders) and not is_import(sys._getframe(1)):
                note(path)
        elif event == "subprocess.Popen" and "python" in os.path.basename(str(words[0])):
            note(EVERYTHING)

    sys.addaudithook(read)
