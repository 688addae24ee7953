import resource
from unittest.mock import Mock

import pytest

from jobs.machine.limits import allow_files, free_bytes, processor_quota

MB = 2**20
UNLIMITED = resource.RLIM_INFINITY
VERSION_2 = {"proc/self/cgroup": "0::/kubepods/pod\n", "proc/meminfo": "MemTotal: 9 kB\nMemAvailable:  64000000 kB\n"}
VERSION_1 = {**VERSION_2, "proc/self/cgroup": "5:memory:/docker/ab\n3:cpuacct,cpu:/docker/ab\n1:name=systemd:/\n"}


def machine(tmp_path, files):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


def memory(limit, use, file=0):
    return {"memory.max": f"{limit}\n", "memory.current": f"{use}\n", "memory.stat": f"anon 7\nfile {file}\nfile_x 9\n"}


def inside(folder, files):
    return {f"sys/fs/cgroup/{folder}/{name}": content for name, content in files.items()}


def test_the_memory_of_a_container_is_its_limit_without_what_it_uses_but_for_pages_of_files(tmp_path):
    files = VERSION_2 | inside("kubepods/pod", memory(512 * MB, 200 * MB, file=50 * MB))
    assert free_bytes(machine(tmp_path, files)) == (512 - 200 + 50) * MB


def test_the_limit_of_a_group_around_counts_too(tmp_path):
    files = VERSION_2 | inside("kubepods/pod", memory("max", MB)) | inside("kubepods", memory(3 * MB, MB))
    assert free_bytes(machine(tmp_path, files)) == 2 * MB


def test_a_container_with_its_own_view_has_its_limit_at_the_top(tmp_path):
    files = VERSION_2 | {"proc/self/cgroup": "0::/\n"} | inside("", memory(3 * MB, 4 * MB))
    assert free_bytes(machine(tmp_path, files)) == 0


def test_the_first_version_of_control_groups_has_other_files(tmp_path):
    limits = {"memory.limit_in_bytes": "4000", "memory.usage_in_bytes": "900", "memory.stat": "cache 1\ntotal_cache 5"}
    assert free_bytes(machine(tmp_path, VERSION_1 | inside("memory", limits))) == 3105


def test_without_a_limit_the_machine_counts_and_without_files_nothing(tmp_path):
    assert free_bytes(tmp_path) is None
    assert free_bytes(machine(tmp_path, VERSION_2 | inside("kubepods/pod", memory("max", MB)))) == 64000000 * 1024


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        (VERSION_2 | inside("kubepods/pod", {"cpu.max": "max 100000\n"}), None),
        (VERSION_2 | inside("kubepods/pod", {"cpu.max": "150000 100000\n"}), 1.5),
        (
            VERSION_2
            | inside("kubepods/pod", {"cpu.max": "150000 100000\n"})
            | inside("kubepods", {"cpu.max": "50000 100000\n"}),
            0.5,
        ),
        (
            VERSION_2 | {"proc/self/cgroup": "0::/../pod\n"} | {"sys/fs/pod/cpu.max": "9 3"} | inside("", {"x": ""}),
            None,
        ),
        (VERSION_2 | {"proc/self/cgroup": "3:cpuset:/pod\n"} | inside("cpu/pod", {"cpu.max": "9 3"}), None),
        (VERSION_1 | inside("cpu/docker/ab", {"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}), None),
        (VERSION_1 | inside("cpu/docker/ab", {"cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n"}), 0.5),
    ],
)
def test_the_processors_of_a_container_are_a_share_of_time(tmp_path, files, quota):
    assert processor_quota(machine(tmp_path, files)) == quota


@pytest.mark.parametrize(
    ("soft", "hard", "raised"),
    [
        (1_024, UNLIMITED, 8_192),
        (1_024, 100_000, 8_192),
        (1_024, 4_096, 4_096),
        (4_096, 4_096, None),
        (8_192, 100_000, None),
        (10_000, UNLIMITED, None),
        (UNLIMITED, UNLIMITED, None),
    ],
)
@pytest.mark.parametrize("error", [None, OSError(), ValueError()])
def test_the_limit_of_open_files_is_raised_as_far_as_it_may_and_never_lowered(monkeypatch, soft, hard, raised, error):
    changed = Mock(side_effect=error)
    monkeypatch.setattr(resource, "getrlimit", {resource.RLIMIT_NOFILE: (soft, hard)}.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", changed)
    allow_files()
    assert changed.call_args_list == ([((resource.RLIMIT_NOFILE, (raised, hard)),)] if raised else [])
