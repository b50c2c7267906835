"""Writes reference.json.gz: random runs and qrels, with the values by topic of other programs.

trec_eval 10.0 has gm_map and 11pt_avg, and nDCG with gains for all ranks; it was built with %.15f in place of %6.4f, and its path is the
first argument. ir-measures 0.4.3 has nDCG with gains at a cutoff, and Compat. The latter breaks ties of scores in another way, so that it
gets a run of the same order without ties. It stops at the end of the run, while compatibility.py of Compat's authors always goes to rank
1000, so that it gets runs with 1000 documents.
"""
import gzip
import json
import random
import subprocess
import sys
import tempfile

import ir_measures

GAINS = ["{1:3,2:9}", "{0:1,1:2,2:4,4:8}", "{0:-1,1:2,2:4}"]
TREC_EVAL = {"gm_map": "GMAP", "11pt_avg": "IAP"}
MEASURES = ["nDCG(gains={1:3,2:9})@5", "Compat", "Compat(p=0.8)", "Compat(normalize=False)"]


def written(gains):
    return gains.strip("{}").replace(":", "=")


def trec_eval(program, qrels, run, *flags):
    with tempfile.NamedTemporaryFile("w") as q, tempfile.NamedTemporaryFile("w") as r:
        q.write(qrels), q.flush()
        r.write(run), r.flush()
        out = subprocess.run([program, "-c", "-q", *flags, q.name, r.name], check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in out.splitlines()]


def case(number):
    random.seed(number)
    docs = ["a", "b", "B", "ab", "é", "d0", "d1", "d10", "d2", "9", "~", "Ω", "e1", "e2", "e3", "e4"]
    topics = random.sample(["1", "10", "2", "tü"], random.randint(1, 4))
    judged, ranked = {}, {}
    for topic in topics:
        highest = random.choice([1, 2, 4])
        judged[topic] = {d: random.choice([0, 0, random.randint(-1, highest)]) for d in random.sample(docs, random.randint(1, len(docs)))}
        judged[topic]["f"] = 0  # trec_eval stops at a topic with negative grades alone
        if not ranked or random.random() < 0.8:
            spread = random.choice([3, 1000])
            ranked[topic] = {d: random.randint(-spread, spread) / 4 for d in random.sample(docs, random.randint(1, len(docs)))}
    qrels = "".join(f"{t} 0 {d} {g}\n" for t in judged for d, g in judged[t].items())
    run = "".join(f"{t} Q0 {d} 0 {s} x\n" for t in ranked for d, s in ranked[t].items())
    values = {t: {} for t in [*judged, "all"]}
    for gains in GAINS:
        for _, topic, value in trec_eval(sys.argv[1], qrels, run, "-m", "ndcg." + written(gains)):
            values[topic][f"nDCG(gains={gains})"] = float(value)
    for name, topic, value in trec_eval(sys.argv[1], qrels, run, "-m", "gm_map", "-m", "11pt_avg"):
        values[topic][TREC_EVAL[name.strip()]] = float(value)
    untied = {}
    for topic, scores in ranked.items():
        order = sorted(sorted(scores, key=lambda d: d.encode(), reverse=True), key=lambda d: -scores[d])
        untied[topic] = {d: float(1000 - i) for i, d in enumerate([*order, *(f"unjudged{i}" for i in range(1000 - len(order)))])}
    measures = [ir_measures.parse_measure(m) for m in MEASURES]
    for m in ir_measures.iter_calc(measures, judged, untied):
        values[m.query_id][MEASURES[measures.index(m.measure)]] = m.value
    for m, value in ir_measures.calc_aggregate(measures, judged, untied).items():
        values["all"][MEASURES[measures.index(m)]] = value
    return {"qrels": qrels, "run": run, "values": values}


with gzip.GzipFile("reference.json.gz", "wb", mtime=0) as out:
    out.write(json.dumps([case(number) for number in range(500)], ensure_ascii=False).encode())
