"""Have the server compute MAE, R2 and RMSE of a small run."""
import json
import os
from urllib.request import Request, urlopen

DEPTHS = """{"id": "a", "depth": 1}
{"id": "b", "depth": 2}
{"id": "c", "depth": 3}
"""
RUN = """{"id": "a", "depth": 1}
{"id": "b", "depth": 2}
{"id": "c", "depth": 4}
"""

body = {
    "runs": [{"files": [{"name": "run.jsonl", "text": RUN}]}],
    "truth": {
        "files": [{"name": "depths.jsonl", "text": DEPTHS}],
        "kind": "regression",
        "format": {"kind": "jsonl", "idField": "id", "valueField": "depth"},
    },
    "measures": ["MAE", "R2", "RMSE"],
}
request = Request(
    os.environ["ASSAY_URL"] + "/v1/tools/evaluator",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json"},
)
with urlopen(request, timeout=30) as answer:
    measures = json.load(answer)["runs"][0]["measures"]
for name, value in sorted(measures.items()):
    print(f"{name} = {value:.4f}")
