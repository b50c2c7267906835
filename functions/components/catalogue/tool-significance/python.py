"""Tell whether three runs differ, and save the matrix of pairs."""
import json
import os
from urllib.request import Request, urlopen

# The ranking of each run for eight topics: a lake, which is best, a pond and a road.
RUNS = {
    "lakes": "lpr lpr plr lpr lpr lrp lpr lpr",
    "ponds": "plr lpr plr plr prl plr lpr rlp",
    "roads": "rpl rlp prl rpl rpl rlp rpl rpl",
}
QRELS = "".join(f"{topic} 0 l 2\n{topic} 0 p 1\n" for topic in range(1, 9))


def trec(name, rankings):
    """Return rankings as a run in TREC's format."""
    lines = []
    for topic, ranking in enumerate(rankings.split(), 1):
        for rank, document in enumerate(ranking, 1):
            lines.append(f"{topic} Q0 {document} {rank} {10 - rank} {name}\n")
    return "".join(lines)


def compare(accept):
    """Return the comparison as the media type."""
    request = Request(
        os.environ["ASSAY_URL"] + "/v1/tools/significance",
        data=json.dumps({
            "runs": [{"name": name, "files": [{"name": name + ".txt", "text": trec(name, r)}]} for name, r in RUNS.items()],
            "truth": {"files": [{"name": "qrels.txt", "text": QRELS}]},
            "measure": "nDCG@10",
            "seed": 1,
        }).encode(),
        headers={"Content-Type": "application/json", "Accept": accept},
    )
    with urlopen(request, timeout=30) as answer:
        return answer.read()


found = json.loads(compare("application/json"))
names = [run["name"] for run in found["runs"]]
for pair in found["pairs"]:
    verdict = "differs from" if pair["different"] else "is not distinguished from"
    print(names[pair["first"]], verdict, f"{names[pair['second']]}: {pair['difference']:+.4f}, p = {pair['p']:.4f} by {found['test']}, {found['correction']}")
with open("significance.svg", "wb") as chart:
    chart.write(compare("image/svg+xml"))
print("The matrix is in significance.svg")
