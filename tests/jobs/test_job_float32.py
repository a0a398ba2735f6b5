"""float32 joint values stay within the limits, which are float64; those that are read may be one rounding outside."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from job_tables import ARM, LINK, lists, numbers, seven
from supple import Joint, Linkage, jobs
from supple.jobs import Joints
from supple.jobs.columns import JointMap

LIMITS = np.random.default_rng(0).uniform(0.1, 3, (2000, 2))


@pytest.mark.parametrize("degrees", [False, True])
def test_float32_values_are_rounded_into_the_limits(degrees):
    for low, high in LIMITS[:300]:
        arm = Linkage("one", [Joint.revolute("a", "base", "tip", lower=-low, upper=high)])
        columns = JointMap(arm, "tip", Joints("q", degrees=degrees), 1)
        q = np.array([[-low], [high], [(high - low) / 2]])
        written = columns.singles(columns.entries_of(q))
        assert written.dtype == np.float32
        read, _ = columns.q(written.astype(float))
        assert arm.inside(read, 1e-15 if degrees else 0.0).all()
        assert np.abs(read - q).max() < 4e-7 * max(low, high)


def test_values_outside_the_limits_stay_where_they_are():
    columns = JointMap(ARM, LINK, Joints("q"), 8)
    q = ARM.upper[None] + 0.1
    np.testing.assert_array_equal(columns.singles(q), q.astype(np.float32))


def test_a_job_with_float32_keeps_the_limits(tmp_path):
    q = np.where(np.random.default_rng(1).random((50, 8)) < 0.5, ARM.lower, ARM.upper)
    pq.write_table(pa.table({"p": lists(seven(q))}), tmp_path / "in.parquet")
    job = jobs.solve(ARM, tmp_path / "in.parquet", tmp_path / "out.parquet", pose="p", link=LINK, single=True)
    job.run()
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.field("q").type.value_type == pa.float32()
    assert ARM.inside(numbers(table, "q").astype(float), 0.0).all()


@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_float32_joints_may_be_one_rounding_outside(tmp_path, degrees, kind):
    """Each limit rounded away from zero: outside by at most one float32; in a column of float64 that counts."""
    unit = np.where(np.array(ARM.units) == "rad", np.degrees(1), 1.0) if degrees else np.ones(8)
    limits = np.concatenate([np.diag(x - ARM.rest) + ARM.rest for x in (ARM.lower, ARM.upper)]) * unit
    near = limits.astype(np.float32)
    q = np.where(np.abs(near) < np.abs(limits), np.nextafter(near, np.copysign(np.float32(np.inf), near)), near)
    pq.write_table(pa.table({"q": lists(q.astype(kind))}), tmp_path / "in.parquet")
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    counts = jobs.forward(ARM, source, target, joints=Joints("q", degrees=degrees), link=LINK).run().counts
    outside = np.count_nonzero(~ARM.inside(q / unit, 1e-9))
    assert outside > 8
    assert counts["outside_limits"] == (0 if kind is np.float32 else outside)
