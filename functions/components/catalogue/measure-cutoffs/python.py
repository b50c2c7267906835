"""Have the server compute P@2 and R@2 and Success@2 of a small run."""
import json
import os
from urllib.request import Request, urlopen

QRELS = """1 0 lake 2
1 0 pond 1
1 0 road 0
"""
RUN = """1 Q0 pond 1 4.0 mine
1 Q0 road 2 3.0 mine
1 Q0 lake 3 2.0 mine
1 Q0 sea 4 1.0 mine
"""

body = {
    "runs": [{"files": [{"name": "run.txt", "text": RUN}]}],
    "truth": {"files": [{"name": "qrels.txt", "text": QRELS}]},
    "measures": ["P@2", "R@2", "Success@2"],
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
