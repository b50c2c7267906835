"""Writes reference.json.gz: random runs and diversity qrels, with the values by topic of ir-measures 0.4.3 with pyndeval 0.0.8 (ndeval).

It breaks ties of scores in another way, so that it gets a run of the same order without ties. At rank 1 ndeval does not normalize alpha-DCG
and ERR-IA, which the package comment says; they are not compared there.
"""
import gzip
import json
import math
import random

import ir_measures
from ir_measures import GenericQrel, ScoredDoc

MEASURES = [f"{name}@{k}" for name in ["alpha_nDCG", "alpha_nDCG(alpha=0.25)", "alpha_DCG", "ERR_IA", "nERR_IA", "StRecall"]
            for k in [2, 5, 20]] + [
    "alpha_nDCG@1", "nERR_IA@1", "alpha_nDCG(alpha=1.0)@10", "alpha_nDCG(alpha=0.0)@10", "alpha_nDCG(rel=2)@10", "ERR_IA(rel=2)@10", "StRecall@1"]


def case(number):
    random.seed(number)
    docs = ["a", "b", "B", "ab", "é", "~", "Ω", *(f"d{i}" for i in range(20))]
    topics = random.sample(["1", "10", "2", "tü"], random.randint(1, 4))
    qrels, ranked = [], {}
    for topic in topics:
        subtopics = random.sample(["0", "1", "2", "3", "10", "ü", "α"], random.randint(1, 7))
        for subtopic in subtopics:
            highest = random.choice([0, 1, 1, 3])
            for doc in random.sample(docs, random.randint(1, 12)):
                qrels.append(GenericQrel(topic, doc, random.choice([-1, 0, random.randint(0, highest)]), subtopic))
        if not ranked or random.random() < 0.8:
            spread = random.choice([3, 1000])
            ranked[topic] = {d: random.randint(-spread, spread) / 4 for d in random.sample(docs, random.randint(1, len(docs)))}
    # ndeval adds what subtopics gain in the order in which it meets them, so that it has them in the order of their ids.
    ordered = sorted(qrels, key=lambda q: q.iteration.encode())
    untied = []
    for topic, scores in ranked.items():
        order = sorted(sorted(scores, key=lambda d: d.encode(), reverse=True), key=lambda d: -scores[d])
        untied += [ScoredDoc(topic, d, float(len(order) - i)) for i, d in enumerate(order)]
    values = {t: {} for t in [*topics, "all"]}
    for name in MEASURES:  # one by one: the second of two settings gets no run
        measure = ir_measures.parse_measure(name)
        for m in ir_measures.iter_calc([measure], ordered, untied):
            values[m.query_id][name] = 0.0 if math.isnan(m.value) else m.value
        values["all"][name] = sum(values[t].get(name, 0.0) for t in topics) / len(topics)
    random.shuffle(qrels)
    return {
        "qrels": "".join(f"{q.query_id} {q.iteration} {q.doc_id} {q.relevance}\n" for q in qrels),
        "run": "".join(f"{t} Q0 {d} 0 {s} x\n" for t in ranked for d, s in ranked[t].items()),
        "values": values,
    }


with gzip.GzipFile("reference.json.gz", "wb", mtime=0) as out:
    out.write(json.dumps([case(number) for number in range(500)], ensure_ascii=False).encode())
