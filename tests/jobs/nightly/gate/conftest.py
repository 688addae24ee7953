import pytest

from tests.support import small_versions


@pytest.fixture
def make_version():
    return small_versions.make_version
