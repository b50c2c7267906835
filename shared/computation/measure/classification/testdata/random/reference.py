"""Write values.json: random labels with the values of scikit-learn, and MacroMAE by its definition."""
import json
import random

from sklearn import metrics

random.seed(19)
NAMES = ["1", "2", "3", "10"]


def values(truth, predicted):
    """Return the measures of labels given as whole numbers."""
    result = {}
    for weights in ("linear", "quadratic"):
        value = metrics.cohen_kappa_score(truth, predicted, weights=weights)
        result[f"Kappa(weights={weights})"] = None if value != value else value
        value = metrics.cohen_kappa_score(truth, predicted, weights=weights, labels=list(range(1, 11)))
        result[f"Kappa(weights={weights},labels=1..10)"] = None if value != value else value
    present = sorted(set(truth))
    result["MacroMAE"] = sum(
        metrics.mean_absolute_error([t for t in truth if t == label], [p for t, p in zip(truth, predicted) if t == label])
        for label in present
    ) / len(present)
    occurring = sorted(set(truth) | set(predicted))
    for average in ("macro", "micro", "weighted"):
        result[f"F(beta=2.0,average={average})"] = metrics.fbeta_score(
            truth, predicted, beta=2, labels=occurring, average=average, zero_division=0)
        subset = metrics.f1_score(truth, predicted, labels=[1, 10], average=average, zero_division=0)
        result[f"F1(average={average},labels='1,10')"] = subset if {1, 10} <= set(truth) else None
    result["F(beta=0.5,positive=2)"] = (
        metrics.fbeta_score(truth, predicted, beta=0.5, labels=[2], average="macro", zero_division=0) if 2 in truth else None)
    return result


cases = []
for _ in range(500):
    n, labels = random.randint(1, 24), random.randint(1, 4)
    truth = [int(random.choice(NAMES[:labels])) for _ in range(n)]
    copied = random.random()
    predicted = [t if random.random() < copied else int(random.choice(NAMES)) for t in truth]
    codes = [[NAMES.index(str(x)) for x in side] for side in (truth, predicted)]
    cases.append({"truth": codes[0], "predicted": codes[1], "values": values(truth, predicted)})
with open("values.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
