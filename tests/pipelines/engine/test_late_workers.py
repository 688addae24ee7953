import threading
from unittest.mock import Mock

import pytest
from apache_beam.portability import python_urns
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    BeamFnControlServicer,
    ControlConnection,
    SubprocessSdkWorkerHandler,
    WorkerHandler,
)

from pipelines.engine.late_workers import PatientWorkerHandler, use_patient_handlers

DONE = BeamFnControlServicer._DONE_MARKER


@pytest.fixture
def handler():
    made = PatientWorkerHandler.__new__(PatientWorkerHandler)
    made.control_conn, made.data_conn = ControlConnection(), Mock()
    made.worker_thread = threading.Thread(target=lambda: None)
    made.worker_thread.start()
    made.control_conn.push(beam_fn_api_pb2.InstructionRequest())
    return made


def test_a_worker_that_calls_after_the_end_is_told_so_and_gets_no_work(handler):
    handler.close()
    assert handler.control_conn.get_req() is DONE
    assert handler.control_conn._push_queue.empty()
    handler.data_conn.close.assert_called_once_with()


def test_one_that_has_called_gets_its_work_before_the_end(handler):
    handler.control_conn.set_input(iter(()))
    handler.close()
    assert isinstance(handler.control_conn.get_req(), beam_fn_api_pb2.InstructionRequest)
    assert handler.control_conn.get_req() is DONE
    assert handler.control_conn._push_queue.empty()


def test_beam_starts_worker_processes_through_it(monkeypatch):
    known = {python_urns.SUBPROCESS_SDK: (SubprocessSdkWorkerHandler, bytes)}
    monkeypatch.setattr(WorkerHandler, "_registered_environments", known)
    use_patient_handlers()
    assert known[python_urns.SUBPROCESS_SDK] == (PatientWorkerHandler, bytes)
