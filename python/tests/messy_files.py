"""Twelve files as people have them, each beside the same rows cleaned by hand."""

from __future__ import annotations

import csv
import datetime
import json
import pathlib
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pandas as pd

N_ROWS = 140
EPOCH = datetime.date(1970, 1, 1)


def rows(seed: int = 3) -> pd.DataFrame:
    """Customers of four shops: words, numbers, dates, gaps; what they spend depends on all of it."""
    rng = np.random.default_rng(seed)
    shop = rng.choice(["north", "south", "east", "west"], N_ROWS)
    plan = rng.choice(["basic", "plus", "pro"], N_ROWS, p=[0.5, 0.3, 0.2])
    age = rng.normal(40, 10, N_ROWS).round(2)
    visits = rng.integers(0, 9, N_ROWS)
    member = rng.random(N_ROWS) < 0.5
    day = [datetime.date(2023, 1, 13) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 600, N_ROWS)]
    slope = np.where(np.isin(shop, ["north", "south"]), 0.08, -0.05)
    spent = 20 + slope * age + 0.3 * visits + 1.5 * (plan == "pro") + member + rng.normal(0, 0.4, N_ROWS)
    spent = spent.round(3)
    data = {"shop": shop, "plan": plan, "age": age, "visits": visits, "member": member, "day": day, "spent": spent}
    return pd.DataFrame(data)


def cleaned(data: pd.DataFrame, *, gaps: dict[str, np.ndarray] | None = None) -> pd.DataFrame:
    """What somebody would do in pandas before a fit: dummies, days, means and indicators."""
    out = {"shop": data["shop"]}
    for name in [name for name in data if name not in ("shop", "spent")]:
        column, gap = data[name], (gaps or {}).get(name)
        if name == "plan":
            words = column.where(~gap) if gap is not None else column
            for value in sorted(set(words.dropna())):
                out[f"plan_{value}"] = (words == value).astype(float)
        elif name == "day":
            out[name] = pd.Series([float((day - EPOCH).days) for day in column])
        else:
            numbers = column.astype(float)
            out[name] = numbers.where(~gap).fillna(numbers[~gap].mean()) if gap is not None else numbers
        if gap is not None:
            out[f"{name}_missing"] = gap.astype(float)
    out["spent"] = data["spent"]
    return pd.DataFrame(out)


def _gap(every: int) -> np.ndarray:
    return np.arange(N_ROWS) % every == 1


def excel_english(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """Month first, thousands with commas, empty cells, an identifier, lines that end in CR LF."""
    data, gap = rows(), _gap(11)
    path = folder / "english.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        write = csv.writer(file)
        write.writerow(["Customer ID", *data.columns])
        for i, row in enumerate(data.itertuples(index=False)):
            age = "" if gap[i] else f"{row.age:.2f}"
            day = f"{row.day.month}/{row.day.day}/{row.day.year}"
            write.writerow([f"C-{i:05d}", row.shop, row.plan, age, row.visits, str(row.member).upper(), day, row.spent])
    return path, cleaned(data, gaps={"age": gap})


def excel_german(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """Semicolons, decimal commas, day first with points, errors of formulas."""
    data, gap = rows(4), _gap(17)
    lines = ["sep=;", ";".join(data.columns)]
    for i, row in enumerate(data.itertuples(index=False)):
        age = "#N/A" if gap[i] else f"{row.age:.2f}".replace(".", ",")
        spent, day = str(row.spent).replace(".", ","), row.day.strftime("%d.%m.%Y")
        lines.append(f"{row.shop};{row.plan};{age};{row.visits};{int(row.member)};{day};{spent}")
    path = folder / "german.csv"
    path.write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    return path, cleaned(data, gaps={"age": gap})


def pandas_parquet(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """Categoricals, timestamps, nullable integers and an index."""
    data, gap = rows(5), _gap(13)
    table = data.copy()
    table["plan"] = table["plan"].astype("category")
    table["day"] = pd.to_datetime(table["day"])
    table["visits"] = table["visits"].astype("Int64").mask(pd.Series(gap))
    table.index = pd.Index([f"row{i}" for i in range(N_ROWS)])
    path = folder / "pandas.parquet"
    table.to_parquet(path)
    return path, cleaned(data, gaps={"visits": gap})


def polars_parquet(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """Categoricals, dates and decimals, compressed with zstd."""
    import polars as pl

    data = rows(6)
    table = pl.DataFrame({name: data[name].tolist() for name in data})
    table = table.with_columns(pl.col("plan").cast(pl.Categorical), pl.col("age").cast(pl.Decimal(10, 2)))
    path = folder / "polars.parquet"
    table.write_parquet(path)
    return path, cleaned(data)


def r_csv(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """Row names without a head, quotes around words, NA."""
    data, gap = rows(7), _gap(9)
    heads = ",".join(f'"{name}"' for name in ["", *data.columns])
    lines = [heads]
    for i, row in enumerate(data.itertuples(index=False)):
        age, member = "NA" if gap[i] else row.age, str(row.member).upper()
        lines.append(f'"{i + 1}","{row.shop}","{row.plan}",{age},{row.visits},{member},"{row.day}",{row.spent}')
    path = folder / "from_r.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, cleaned(data, gaps={"age": gap})


def hospital(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """A byte order mark, remarks with line ends in quotes, bars between cells, an empty column, missing words."""
    data, gap = rows(8), _gap(12)
    path = folder / "hospital.txt"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        write = csv.writer(file, delimiter="|", lineterminator="\r\n")
        write.writerow([*data.columns, "remark", "reserved"])
        for i, row in enumerate(data.itertuples(index=False)):
            plan = "" if gap[i] else row.plan
            values = [row.shop, plan, row.age, row.visits, row.member, row.day.isoformat(), row.spent]
            write.writerow([*values, f"seen on day {i};\r\nsaid: \"fine\"", ""])
    return path, cleaned(data, gaps={"plan": gap})


def arrow_ipc(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """Arrow with a dictionary and nulls."""
    import pyarrow as pa
    from pyarrow import feather

    data, gap = rows(9), _gap(8)
    age = [None if gap[i] else Decimal(str(age)) for i, age in enumerate(data["age"])]
    table = pa.table({
        "shop": pa.array(data["shop"]),
        "plan": pa.array(data["plan"]).dictionary_encode(),
        "age": pa.array(age, pa.decimal128(12, 2)),
        "visits": pa.array(data["visits"], pa.int16()),
        "member": pa.array(data["member"]),
        "day": pa.array(data["day"], pa.date32()),
        "spent": pa.array(data["spent"]),
    })
    path = folder / "table.feather"
    feather.write_feather(table, path, compression="lz4")
    return path, cleaned(data, gaps={"age": gap})


def json_lines(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """Objects in which some keys are not there."""
    data, gap = rows(10), _gap(10)
    lines = []
    for i, row in enumerate(data.itertuples(index=False)):
        line = {**row._asdict(), "day": str(row.day)}
        line = {key: value.item() if hasattr(value, "item") else value for key, value in line.items()}
        if gap[i]:
            del line["age"]
        lines.append(json.dumps(line))
    path = folder / "lines.jsonl"
    path.write_text("\n".join(lines))
    return path, cleaned(data, gaps={"age": gap})


def zipped_tsv(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """Tabs, compressed with bzip2."""
    data = rows(11)
    path = folder / "table.tsv.bz2"
    data.to_csv(path, sep="\t", index=False)
    return path, cleaned(data)


def timestamps(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """The index of pandas in the first column, times at midnight, floats for integers."""
    data, gap = rows(12), _gap(14)
    table = data.copy()
    table["day"] = pd.to_datetime(table["day"]).dt.strftime("%Y-%m-%d 00:00:00")
    table["visits"] = table["visits"].astype(float).mask(gap)
    path = folder / "times.csv.gz"
    table.to_csv(path)
    return path, cleaned(data, gaps={"visits": gap})


def folder_of_files(folder: pathlib.Path) -> tuple[pathlib.Path, pd.DataFrame]:
    """One file for each month, in one folder; columns in another order in the second."""
    data = rows(13)
    parts = folder / "months"
    parts.mkdir()
    data[: N_ROWS // 2].to_csv(parts / "a.csv", index=False)
    data[N_ROWS // 2 :][sorted(data.columns)].to_csv(parts / "b.csv", index=False)
    return parts, cleaned(data)


TABLES: list[Callable[[pathlib.Path], tuple[pathlib.Path, pd.DataFrame]]] = [
    excel_english, excel_german, pandas_parquet, polars_parquet, r_csv, hospital, arrow_ipc, json_lines, zipped_tsv,
    timestamps, folder_of_files,
]
