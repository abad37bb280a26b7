"""Which tasks are demonstrated; the recording itself is tested with the notebooks and the rollout."""

from collections import Counter

import pytest

from wr1_utils.demonstrations import leave_out
from wr1_utils.settings import SettingsError, load_settings
from wr1_utils.tasks import train_tasks


def test_a_fifth_of_the_templates_is_not_demonstrated():
    """Whole templates go, the same for a seed whatever else is asked, others for another seed; tasks keep their order."""
    for benchmark, templates in (("pocket", 26), ("miniwob", 25)):
        tasks = train_tasks(load_settings("laptop", **{"tasks.benchmarks": [benchmark]}))
        before = Counter(task.intent_template_id for task in tasks)
        kept = leave_out(tasks, 0.2, seed=0)
        after = Counter(task.intent_template_id for task in kept)
        assert len(before) == templates and len(after) == templates - round(templates / 5)
        assert all(before[name] == number for name, number in after.items())
        assert kept == leave_out(tasks, 0.2, seed=0) != leave_out(tasks, 0.2, seed=1)
        assert leave_out(tasks, 0.0, seed=0) == tasks and leave_out(tasks, 1.0, seed=0) == []


def test_more_than_all_cannot_be_left_out():
    with pytest.raises(SettingsError, match="between 0 and 1, not 1.5"):
        leave_out([], 1.5, seed=0)
