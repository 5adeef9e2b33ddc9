"""Reads /metrics with prometheus-client, URL TIMES: strictly, and what only rises must never fall.

Prints what the last reading was made of, as JSON: by name kind, help, labels, number of samples.
"""

import json
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

url, times = sys.argv[1], int(sys.argv[2])
before, families = {}, {}
for _ in range(times):
    with urllib.request.urlopen(url, timeout=10) as response:
        text = response.read().decode()
    families = {}
    for family in text_string_to_metric_families(text):
        assert family.name not in families, f"{family.name} is there twice"
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        families[family.name] = {
            "kind": family.type,
            "help": family.documentation,
            "labels": sorted(labels),
            "samples": len(family.samples),
        }
        buckets = {}
        for sample in family.samples:
            series = (sample.name, *sorted(sample.labels.items()))
            if family.type in ("counter", "histogram"):
                assert sample.value >= before.get(series, 0), f"{series} falls to {sample.value}"
                before[series] = sample.value
            if sample.name.endswith("_bucket"):
                of = tuple(pair for pair in sorted(sample.labels.items()) if pair[0] != "le")
                buckets.setdefault(of, []).append((float(sample.labels["le"]), sample.value))
        for of, counts in buckets.items():
            bounds, values = zip(*counts)
            assert list(bounds) == sorted(bounds) and bounds[-1] == float("inf"), (family.name, of)
            assert list(values) == sorted(values), (family.name, of)
print(json.dumps(families))
