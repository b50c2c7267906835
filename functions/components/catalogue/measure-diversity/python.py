"""Have the server compute measures of diversity of a small run."""
import json
import os
from urllib.request import Request, urlopen

QRELS = """1 animal panther 1
1 animal habitat 1
1 car dealer 1
1 car panther 0
1 music guitar 1
"""
RUN = """1 Q0 panther 1 4.0 mine
1 Q0 habitat 2 3.0 mine
1 Q0 dealer 3 2.0 mine
"""

body = {
    "runs": [{"files": [{"name": "run.txt", "text": RUN}]}],
    "truth": {"kind": "diversity", "files": [{"name": "qrels.txt", "text": QRELS}]},
    "measures": ["alpha_nDCG@20", "ERR_IA@20", "StRecall@20"],
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
