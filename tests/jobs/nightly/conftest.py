import datetime
import json

import numpy as np
import pytest

from jobs.nightly.warehouse import days_of
from pipelines.ingestion.days import ADDED, COUNTS, read_day_file
from pipelines.writing.parquet import to_parquet
from schemas.artifacts import storage
from schemas.artifacts.writer import Output

WORDINGS = ("how do i {} the {}", "how can i {} the {}", "please tell me how to {} the {}", "{} the {} how")
VERBS = ("open", "close", "repair", "clean", "sell", "paint", "move", "rent", "weigh", "fold")
THINGS = ("garden gate", "blue boat", "old tractor", "kitchen clock", "wooden chair", "paper kite", "iron kettle")
THINGS += ("glass lamp", "small piano", "stone oven")


def rows_of(date, *, seed, count=400, facts=60, rename=lambda fact, answer: answer):
    """Return rows of a day's log: wordings of some facts, each with its answer."""
    draw = np.random.default_rng([seed, date.toordinal()])
    rows = []
    for fact in draw.integers(0, facts, count).tolist():
        verb, thing = VERBS[fact % len(VERBS)], THINGS[fact // len(VERBS) % len(THINGS)]
        question = WORDINGS[draw.integers(len(WORDINGS))].format(verb, thing)
        answer = rename(fact, f"Page {fact} of the handbook has the steps for the {thing}.")
        time = f"{date}T{draw.integers(24):02}:30:00Z"
        rows.append({"question": question, "answer": answer, "timestamp": time})
    return rows


@pytest.fixture
def drop():
    """Return a function that puts a day's log into a warehouse."""

    def put(warehouse, date, rows, name="log.jsonl"):
        url = storage.join(warehouse, "events", f"date={date}", name)
        storage.write_bytes(url, "".join(json.dumps(row) + "\n" for row in rows).encode())
        return url

    return put


@pytest.fixture
def dates():
    """Return a function that gives the n-th day of November 2025."""
    return lambda day: datetime.date(2025, 11, day)


@pytest.fixture
def of_earlier_release():
    """Return a function that removes from a day the columns that earlier releases lack."""

    def replace(warehouse, date):
        [day] = days_of(warehouse, date, 1)
        with Output(day.url, "day", overwrite=True) as target:
            files = [
                target.write(
                    f"asked/{number}.parquet",
                    to_parquet(rows.drop_columns([*ADDED]), COUNTS),
                    table=COUNTS,
                    rows=len(rows),
                )
                for number, rows in enumerate(rows for file in day.files for _, rows in read_day_file(file, None))
            ]
            inputs, configuration = day.manifest.inputs, day.manifest.configuration
            target.publish(files, inputs=inputs, configuration=configuration, counters=day.manifest.counters)

    return replace
