"""Write reference.json: random clusterings with the values of scikit-learn 1.x, and of BCubed and purity by their definitions."""
import json
import random

from sklearn import metrics

random.seed(19)


def bcubed(one, other):
    """Return the mean over the examples of how much of their cluster in one is also in their cluster in the other."""
    n = len(one)
    together = [
        sum(one[j] == one[i] and other[j] == other[i] for j in range(n)) / sum(one[j] == one[i] for j in range(n))
        for i in range(n)
    ]
    return sum(together) / n


def values(truth, predicted):
    precision, recall = bcubed(predicted, truth), bcubed(truth, predicted)
    return {
        "VMeasure": metrics.v_measure_score(truth, predicted),
        "VMeasure(beta=2.0)": metrics.v_measure_score(truth, predicted, beta=2),
        "Homogeneity": metrics.homogeneity_score(truth, predicted),
        "Completeness": metrics.completeness_score(truth, predicted),
        "ARI": metrics.adjusted_rand_score(truth, predicted),
        "NMI": metrics.normalized_mutual_info_score(truth, predicted),
        "BCubedP": precision,
        "BCubedR": recall,
        "BCubedF": 2 * precision * recall / (precision + recall),
        "Purity": metrics.cluster.contingency_matrix(truth, predicted).max(axis=0).sum() / len(truth),
    }


cases = []
for _ in range(500):
    n, a, b = random.randint(1, 24), random.randint(1, 6), random.randint(1, 6)
    truth = [random.randrange(a) for _ in range(n)]
    copied = random.random()
    predicted = [t if random.random() < copied else random.randrange(b) for t in truth]
    cases.append({"truth": truth, "predicted": predicted, "values": {k: float(v) for k, v in values(truth, predicted).items()}})
with open("reference.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
