"""Values of a saved file: what is no number is refused, and damage becomes one sentence."""

import pytest

from adalib.datasets.files import DataError
from adalib.datasets.saved import number, numbers, reading, whole


@pytest.mark.parametrize("value", ["1", None, True, [1], float("nan"), 2.0])
def test_what_is_no_number_of_a_file(value):
    with pytest.raises(ValueError, match="share"):
        number(value, "share", 0, 1)
    with pytest.raises(ValueError, match="count"):
        whole(value, "count", 0, 1)
    with pytest.raises(ValueError, match="table"):
        numbers([[value]] if value != [1] else [[[1]]], "table", (1, 1), 0, 1)


def test_another_kind_version_or_value_is_one_sentence():
    for data in ([], {"kind": "cat"}, {"kind": "dog", "version": 2}, {"kind": "dog", "version": 1}):
        with pytest.raises(DataError, match="dog"), reading(data, "dog", 1):
            data["legs"]
    with reading({"kind": "dog", "version": 1}, "dog", 1):
        pass
