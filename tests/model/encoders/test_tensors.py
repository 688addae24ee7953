import numpy as np
import pytest
import safetensors.numpy

from model.encoders.tensors import all_finite, read_tensors


def test_tensors_are_read_by_name_and_type():
    tensors = {"a": np.arange(6, dtype=np.float16).reshape(2, 3), "b": np.array([1, 2])}
    found = read_tensors(safetensors.numpy.save(tensors))
    assert found.keys() == tensors.keys()
    assert all(np.array_equal(found[name], tensors[name]) for name in tensors)
    assert found["a"].dtype == np.float16


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_refused_by_tensor_wherever_it_stands(kind, number):
    for place in (0, 2**16 - 1, 2**16, 2**16 + 9):
        tensor = np.zeros((2**15 + 5, 2), kind)
        tensor.reshape(-1)[place] = number
        assert not all_finite(tensor)
        with pytest.raises(ValueError, match="tensor 'b' holds numbers that are infinite or none"):
            read_tensors(safetensors.numpy.save({"a": np.zeros(3, kind), "b": tensor}))


def test_integers_and_empty_tensors_are_finite():
    assert all_finite(np.array([2**63 - 1]))
    assert all_finite(np.zeros((0, 3), np.float32))
    assert all_finite(np.array(1.5))


@pytest.mark.parametrize("content", [b"", b"x" * 100, (2**40).to_bytes(8, "little") + b"{}"])
def test_what_is_no_such_file_is_refused(content):
    with pytest.raises(ValueError, match="is no file of safetensors of numpy's types"):
        read_tensors(content)
