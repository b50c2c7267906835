"""Write reference.json.gz: random tags and spans with the values of seqeval 1.2, and of the other measures by their definitions."""
import gzip
import json
import random
import warnings

import seqeval.scheme
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import Entities

warnings.filterwarnings("ignore")
random.seed(19)

SCHEMES = {"IOB1": "IOB", "IOB2": "IOB", "IOE2": "IOE", "IOBES": "IOBES", "BILOU": "BILOU"}
SCORES = {"Precision": precision_score, "Recall": recall_score, "F1": f1_score}
WAYS = ["exact", "any", "proportional", "units"]


def by_type(documents):
    """Return the spans of each document, as sets of units, by type."""
    kinds = sorted({kind for document in documents for kind, _, _ in document})
    return {k: [[frozenset(range(a, b)) for kind, a, b in document if kind == k] for document in documents] for k in kinds}


def merged(sets):
    """Unite those of the sets that have a common element, until no two have."""
    rest, done = list(sets), []
    while rest:
        one = rest.pop()
        meets = [s for s in rest if s & one]
        if meets:
            rest = [s for s in rest if not s & one] + [one.union(*meets)]
        else:
            done.append(one)
    return done


def credit(way, ones, others):
    """Return how much of the spans matches the others, and how many there are."""
    if way == "exact":
        return sum(s in others for s in ones), len(ones)
    if way == "any":
        return sum(any(s & o for o in others) for s in ones), len(ones)
    ones, others = merged(ones), merged(others)
    if way == "proportional":
        return sum(len(s & o) / len(s) for s in ones for o in others), len(ones)
    every, theirs = frozenset().union(*ones), frozenset().union(*others)
    return len(every & theirs), len(every)


def divide(a, b):
    return a / b if b else 0.0


def three(counts):
    (p_credit, predicted), (r_credit, actual) = counts
    p, r = divide(p_credit, predicted), divide(r_credit, actual)
    return {"Precision": p, "Recall": r, "F1": divide(2 * p * r, p + r)}


def total(pairs):
    pairs = list(pairs)
    return sum(a for a, _ in pairs), sum(b for _, b in pairs)


def overlapping(truth, predicted, scheme):
    """Return the values of all measures, None where one is not defined."""
    values = {}
    t, p = by_type(truth), by_type(predicted)
    nothing = [[] for _ in truth]
    kinds = sorted(set(t) | set(p))
    suffix = f",scheme={scheme}" if scheme else ""
    for way in WAYS:
        counted = {}
        for k in kinds:
            pairs = list(zip(t.get(k, nothing), p.get(k, nothing)))
            counted[k] = (total(credit(way, b, a) for a, b in pairs), total(credit(way, a, b) for a, b in pairs))
        pooled = tuple(total(counted[k][side] for k in kinds) for side in (0, 1))
        overlap = "" if way == "exact" else f",overlap={way}"
        support = {k: counted[k][1][1] for k in kinds}
        for name in SCORES:
            scores = {k: three(counted[k])[name] for k in kinds}
            averages = {
                "micro": three(pooled)[name],
                "macro": divide(sum(scores.values()), len(kinds)),
                "weighted": divide(sum(scores[k] * support[k] for k in kinds), sum(support.values())),
            }
            for average, value in averages.items():
                values[f"{name}(average={average}{overlap}{suffix})"] = value if t else None
            values[f"{name}(type=A{overlap}{suffix})"] = scores["A"] if "A" in t else None
        if way == "units":
            ious = {k: divide(c[1][0], c[0][1] + c[1][1] - c[1][0]) for k, c in counted.items()}
            (both, b), (_, a) = pooled
            values[f"IoU(average=micro{suffix})"] = divide(both, a + b - both) if t else None
            values[f"IoU(average=macro{suffix})"] = divide(sum(ious.values()), len(kinds)) if t else None
            values[f"IoU(type=A{suffix})"] = ious["A"] if "A" in t else None
    for kind in (None, "A"):
        f1, iou = [], []
        for x, y in zip(truth, predicted):
            x, y = ({(k, i) for k, a, b in z for i in range(a, b) if kind in (None, k)} for z in (x, y))
            f1.append(2 * len(x & y) / (len(x) + len(y)) if x or y else 1.0)
            iou.append(len(x & y) / len(x | y) if x or y else 1.0)
        brackets = ",".join(([f"type={kind}"] if kind else []) + ([f"scheme={scheme}"] if scheme else []))
        brackets = f"({brackets})" if brackets else ""
        defined = kind is None or kind in t
        values["DocumentF1" + brackets] = sum(f1) / len(f1) if defined else None
        values["DocumentIoU" + brackets] = sum(iou) / len(iou) if defined else None
    return values


def entities(tags, scheme):
    if scheme:
        cls = getattr(seqeval.scheme, scheme)
        return [[(e.tag, e.start, e.end) for e in s] for s in Entities(tags, cls).entities]
    return [[(kind, a, b + 1) for kind, a, b in get_entities(s)] for s in tags]


def seqeval_values(truth, predicted, scheme):
    """Return seqeval's own values, which take the place of those by the definitions."""
    strict = {"mode": "strict", "scheme": getattr(seqeval.scheme, scheme)} if scheme else {}
    suffix = f",scheme={scheme}" if scheme else ""
    return {
        f"{name}(average={average}{suffix})": float(score(truth, predicted, average=average, **strict))
        for name, score in SCORES.items()
        for average in ("micro", "macro", "weighted")
    }


def random_tags(prefixes, kinds, length):
    tags = []
    while len(tags) < length:
        prefix = random.choice(prefixes + "O" * 2)
        kind = random.choice(kinds)
        tags.append("O" if prefix == "O" else prefix if kind == "_" else prefix + "-" + kind)
        while prefix in "BI" and len(tags) < length and random.random() < 0.5:
            prefix = random.choice([p for p in prefixes if p in "IEL"])
            tags.append(prefix if kind == "_" else prefix + "-" + kind)
    return tags


def tagged_case():
    """Make sentences with tags of a scheme, or of all that the default mode knows."""
    scheme = random.choice([None, *SCHEMES])
    prefixes = SCHEMES.get(scheme, "BIOES").replace("O", "")
    kinds = random.choice([["A"], ["A", "B"], ["A", "B-c", "_"], ["A", "ä", "B"]])
    truth = [random_tags(prefixes, kinds, random.randint(1, 9)) for _ in range(random.randint(1, 5))]
    copied = random.random()
    predicted = [
        [t if random.random() < copied else n for t, n in zip(s, random_tags(prefixes, kinds, len(s)))] for s in truth
    ]
    if random.random() < 0.05:
        truth = [["O"] * len(s) for s in truth]
    if random.random() < 0.05:
        predicted = [["O"] * len(s) for s in truth]
    modes = [scheme, None] if scheme and scheme != "BILOU" else [scheme]
    values = {}
    for mode in modes:
        spans = entities(truth, mode)
        values.update(overlapping(spans, entities(predicted, mode), mode))
        for name, value in seqeval_values(truth, predicted, mode).items():
            if values[name] is not None:
                assert abs(values[name] - value) < 1e-12, (name, values[name], value)
                values[name] = value
    return {"format": "conll", "truth": truth, "predicted": predicted, "values": values}


def random_spans(kinds):
    spans = set()
    for _ in range(random.choice([0, 0, 1, 2, 3, 5])):
        start = random.randrange(30)
        spans.add((random.choice(kinds), start, start + random.randint(1, 12)))
    return sorted(spans, key=lambda _: random.random())


def spans_case():
    """Make documents with spans, some of which overlap."""
    kinds = random.choice([["A"], ["A", "B"], ["A", "_", "ä"]])
    truth = [random_spans(kinds) for _ in range(random.randint(1, 5))]
    copied = random.random()
    predicted = [
        sorted({s for s in d if random.random() < copied} | set(random_spans(kinds) if random.random() > copied else []))
        for d in truth
    ]
    return {"format": "jsonl", "truth": truth, "predicted": predicted, "values": overlapping(truth, predicted, None)}


cases = [random.choice([tagged_case, spans_case])() for _ in range(1000)]
text = "[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n"
with open("reference.json.gz", "wb") as f:
    f.write(gzip.compress(text.encode(), mtime=0))
