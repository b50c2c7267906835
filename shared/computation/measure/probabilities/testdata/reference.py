"""Write reference.json: random scores with the values of scikit-learn 1.x, and of PAN's measures by their published definitions."""
import json
import random
import warnings

from sklearn import datasets, metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

warnings.simplefilter("ignore")  # of probabilities that were rounded
random.seed(19)
EVEN = 0.5


def pan(truth, scores):
    """Return PAN's measures: a score of exactly 0.5 is no answer."""
    answered = [(t, s > EVEN) for t, s in zip(truth, scores) if s != EVEN]
    unanswered = len(truth) - len(answered)
    right = sum(t == s for t, s in answered)
    found, wrong, missed = (sum(x == pair for x in answered) for pair in ((1, True), (0, True), (1, False)))
    below = 1.25 * found + 0.25 * (missed + unanswered) + wrong
    values = {
        "CAt1": (right + unanswered * right / len(truth)) / len(truth),
        "F05u": 1.25 * found / below if below else 0,
        "F1": metrics.f1_score([t for t, _ in answered], [s for _, s in answered], zero_division=0) if answered else 0,
    }
    if len(set(truth)) == 2:
        good = [metrics.roc_auc_score(truth, scores), 1 - metrics.brier_score_loss(truth, scores)]
        values["PAN"] = (sum(values.values()) + sum(good)) / 5
    return values


def binary(truth, scores, proper):
    values = {}
    if len(set(truth)) == 2:
        values["AUC"] = metrics.roc_auc_score(truth, scores)
        values["AP"] = metrics.average_precision_score(truth, scores)
    if proper and len(set(truth)) == 2:
        values |= pan(truth, scores)
        values["LogLoss"] = metrics.log_loss(truth, scores)
        values["Brier"] = metrics.brier_score_loss(truth, scores)
    return values


def several(truth, rows):
    """Return the values of rows with a probability for each of the labels, all of which the truth has."""
    k = len(rows[0])
    values = {"LogLoss": metrics.log_loss(truth, rows, labels=list(range(k))), "Brier": metrics.brier_score_loss(truth, rows)}
    for average in ("macro", "weighted"):
        shares = [truth.count(label) / len(truth) if average == "weighted" else 1 / k for label in range(k)]
        for name, score in (("AUC", metrics.roc_auc_score), ("AP", metrics.average_precision_score)):
            ones = [score([t == label for t in truth], [row[label] for row in rows]) for label in range(k)]
            values[f"{name}(average={average})"] = sum(share * one for share, one in zip(shares, ones))
        if k > 2:
            whole = metrics.roc_auc_score(truth, rows, multi_class="ovr", average=average)
            assert abs(whole - values[f"AUC(average={average})"]) < 1e-12
    return values


def case(truth, rows, values):
    return {"truth": truth, "rows": rows, "values": {k: float(v) for k, v in values.items()}}


cases = []
for i in range(300):
    n, digits = random.randint(2, 30), random.choice((1, 2, 12))
    truth = [random.randint(0, 1) for _ in range(n)]
    if i % 2:
        scores = [round(random.random(), digits) for _ in truth]
    else:
        scores = [round(random.gauss(t, 1), digits) for t in truth]
    cases.append(case(truth, [[s] for s in scores], binary(truth, scores, i % 2)))
for _ in range(200):
    k = random.randint(2, 5)
    truth = [*range(k), *(random.randrange(k) for _ in range(random.randint(0, 25)))]
    rows = []
    for _ in truth:
        row = [random.choice((0, random.random(), random.random())) for _ in range(k)]
        rows.append([x / sum(row) for x in row] if sum(row) else [1 / k] * k)
    cases.append(case(truth, rows, several(truth, rows)))
for load in (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer):
    x, y = load(return_X_y=True)
    rows = cross_val_predict(LogisticRegression(max_iter=20), x, y, cv=3, method="predict_proba").tolist()
    truth = y.tolist()
    if len(rows[0]) == 2:
        scores = [row[1] for row in rows]
        cases.append(case(truth, [[s] for s in scores], binary(truth, scores, True)))
    cases.append(case(truth, rows, several(truth, rows)))
with open("reference.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
