import numpy as np
import pytest
import safetensors.numpy

from model.encoders.tensors import all_finite, first_difference, mapped_tensors, read_tensors, signature


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
    with pytest.raises(ValueError, match="is no file of safetensors of numpy's types"):
        mapped_tensors(memoryview(content))


def test_mapped_tensors_are_those_that_are_read_and_not_copied():
    tensors = {
        "a": np.arange(6, dtype=np.float16).reshape(2, 3),
        "b": np.array([1, 2]),
        "none": np.zeros((0, 4), np.float32),
        "one": np.array(True),
    }
    content = safetensors.numpy.save(tensors, metadata={"about": "x"})
    found, read = mapped_tensors(memoryview(content)), read_tensors(content)
    assert found.keys() == read.keys()
    assert all(np.array_equal(found[name], read[name]) and found[name].dtype == read[name].dtype for name in read)
    assert np.shares_memory(found["a"], np.frombuffer(content, np.uint8))
    assert not found["a"].flags.writeable


def test_each_changed_byte_of_a_header_is_refused_or_harmless():
    content = safetensors.numpy.save({"a": np.arange(6, dtype=np.float16).reshape(2, 3), "b": np.array([1.5, 2])})
    header = 8 + int.from_bytes(content[:8], "little")
    for place in range(header):
        for flip in (0x01, 0x10, 0xFF):
            changed = bytearray(content)
            changed[place] ^= flip
            try:
                found = mapped_tensors(memoryview(changed))
            except ValueError as error:
                assert "is no file of safetensors" in str(error)  # noqa: PT017
            else:
                assert sum(tensor.nbytes for tensor in found.values()) == len(content) - header
    for length in range(0, len(content), 3):
        with pytest.raises(ValueError, match="is no file of safetensors"):
            mapped_tensors(memoryview(content[:length]))


def test_the_first_tensor_that_differs_is_named():
    found = signature({"a": np.zeros((2, 3), np.float32), "b": np.zeros(2, np.int64)})
    assert found == {"a": (2, 3, "float32"), "b": (2, "int64")}
    assert first_difference(found, found) is None
    assert first_difference(found, found | {"b": (2, "int32")}) == "b"
    assert first_difference(found, {"b": (2, "int64")}) == first_difference({"b": (2, "int64")}, found) == "a"
