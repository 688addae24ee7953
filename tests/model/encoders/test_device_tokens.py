from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.encoders.device_tokens import DeviceTokens
from model.text.vocabulary import TokenIds
from schemas.ragged import offsets_of

CPU = torch.device("cpu")


@given(st.lists(st.lists(st.integers(0, 99), max_size=4), min_size=1, max_size=8), st.data())
def test_what_is_taken_is_what_numpy_takes(questions, data):
    ids = np.array([number for question in questions for number in question], np.int32)
    tokens = TokenIds(ids, offsets_of(np.array([len(question) for question in questions])))
    rows = np.array(data.draw(st.lists(st.integers(0, len(questions) - 1), max_size=10)), np.int64)
    expected, found = tokens.take(rows), DeviceTokens.of(tokens, CPU).take(rows)
    assert len(found) == len(rows)
    assert found.ids.dtype == torch.int32
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.offsets.tolist() == expected.offsets.tolist()


def test_a_processor_keeps_no_copy():
    tokens = TokenIds(np.arange(5, dtype=np.int32), np.array([0, 2, 5]))
    assert DeviceTokens.of(tokens, CPU).ids.data_ptr() == tokens.ids.ctypes.data
