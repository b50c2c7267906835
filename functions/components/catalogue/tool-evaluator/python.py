"""Evaluate a run against judgments, with intervals and values per topic."""
import json
import os
from urllib.request import Request, urlopen

QRELS = """1 0 lake 2
1 0 pond 1
1 0 road 0
2 0 lake 1
"""
RUN = """1 Q0 pond 1 4.0 mine
1 Q0 road 2 3.0 mine
1 Q0 lake 3 2.0 mine
2 Q0 lake 1 1.0 mine
"""

body = {
    "runs": [{"files": [{"name": "run.txt", "text": RUN}]}],
    "truth": {"files": [{"name": "qrels.txt", "text": QRELS}]},
    "measures": ["nDCG@10", "AP"],
}
request = Request(
    os.environ["ASSAY_URL"] + "/v1/tools/evaluator",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json"},
)
with urlopen(request, timeout=30) as answer:
    evaluated = json.load(answer)
run = evaluated["runs"][0]
for name in evaluated["measures"]:
    interval = run["intervals"][name]
    print(f"{name} {run['measures'][name]:.4f} [{interval['low']:.4f}, {interval['high']:.4f}]")
    for topic, values in sorted(run["perTopic"].items()):
        print(f"  topic {topic}: {values[name]:.4f}")
