"""What a token costs a machine: the shapes that were measured, and the record of one H200."""

import itertools

import numpy as np
import pytest
from measure_answer_cost import CONTEXTS, SHAPES, SIDE_BY_SIDE

from adabook.recorded import recorded

# As the models' authors publish them, with their weights.
PARAMETERS = {"7B": 7_615_616_512, "1.5B": 1_543_714_304, "0.5B": 494_032_768}
RECORD = recorded("machine")
STEPS = {
    (shape, row["context"], row["rows"]): row
    for shape in PARAMETERS
    for row in RECORD[shape]
    if row["what"] == "step"
}
MEASURED = {key: row for key, row in STEPS.items() if "left_out" not in row}


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS.items())
def test_a_shape_has_as_many_parameters_as_its_model(name, parameters):
    assert SHAPES[name].parameters == parameters
    sizes = next(row for row in RECORD[name] if row["what"] == "shape")
    assert sizes["parameters"] == parameters


def test_every_step_was_measured_and_none_is_faster_than_its_limits():
    machine = RECORD["machine"][0]
    assert set(STEPS) == set(itertools.product(PARAMETERS, CONTEXTS, SIDE_BY_SIDE))
    assert set(STEPS) - set(MEASURED) == {("7B", 4000, 1024)}  # more than the board's memory
    for (name, context, rows), row in MEASURED.items():
        shape = SHAPES[name]
        read = 2 * shape.multiplied + rows * shape.cached(context)
        limit = max(
            read / machine["bytes_per_second"],
            2 * shape.multiplied * rows / machine["flops_per_second"],
        )
        assert limit < row["seconds_low"] <= row["seconds"] <= row["seconds_high"]


def test_energy_is_seconds_at_a_power_between_waiting_and_the_boards_limit():
    waiting = RECORD["machine"][0]["waiting_watts"]
    watts = np.array([row["joules"] / row["seconds"] for row in MEASURED.values()])
    assert (waiting < watts).all()
    assert (watts < 1.1 * 700).all()  # the board is rated at 700
