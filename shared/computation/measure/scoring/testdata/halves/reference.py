"""Write reference.json: truths with a half for each id, runs, and the values of scikit-learn 1.x and scipy for both halves."""
import csv
import json
import random

from scipy import stats
from sklearn import metrics
from sklearn.preprocessing import MultiLabelBinarizer

random.seed(37)
NAMES = ["public", "Public", "PUBLIC", "private", "Private", "PRIVATE", "ignored", "Ignored"]


def classification(truth, run):
    return {
        "Accuracy": metrics.accuracy_score(truth, run),
        "BalancedAccuracy": metrics.balanced_accuracy_score(truth, run),
        "F1(positive=1)": metrics.f1_score(truth, run, labels=["1"], average="macro"),
        "F1(average=macro)": metrics.f1_score(truth, run, average="macro"),
        "F1(average=weighted)": metrics.f1_score(truth, run, average="weighted"),
        "MCC": metrics.matthews_corrcoef(truth, run),
        "Kappa": metrics.cohen_kappa_score(truth, run),
    }


def regression(truth, run):
    truth, run = [float(x) for x in truth], [float(x) for x in run]
    return {
        "MSE": metrics.mean_squared_error(truth, run),
        "MAE": metrics.mean_absolute_error(truth, run),
        "R2": metrics.r2_score(truth, run),
        "Pearson": stats.pearsonr(truth, run).statistic,
        "Spearman": stats.spearmanr(truth, run).statistic,
    }


def clustering(truth, run):
    return {
        "ARI": metrics.adjusted_rand_score(truth, run),
        "NMI": metrics.normalized_mutual_info_score(truth, run),
        "VMeasure": metrics.v_measure_score(truth, run),
    }


def probabilities(truth, run):
    run = [float(x) for x in run]
    return {
        "AUC": metrics.roc_auc_score(truth, run),
        "AP": metrics.average_precision_score(truth, run, pos_label="1"),
        "LogLoss": metrics.log_loss(truth, run, labels=["0", "1"]),
        "Brier": metrics.brier_score_loss(truth, run, pos_label="1"),
    }


def multilabel(truth, run):
    sets = [[x for x in text.split("|") if x] for text in truth + run]
    rows = MultiLabelBinarizer().fit_transform(sets)
    real, guess = rows[:len(truth)], rows[len(truth):]
    return {
        "ExactMatch": metrics.accuracy_score(real, guess),
        "F1(average=micro)": metrics.f1_score(real, guess, average="micro"),
        "F1(average=samples)": metrics.f1_score(real, guess, average="samples", zero_division=0),
        "Jaccard(average=samples)": metrics.jaccard_score(real, guess, average="samples", zero_division=0),
    }


KINDS = {
    "classification": (classification, lambda: random.choice("123"), None),
    "regression": (regression, lambda: "%.2f" % random.gauss(0, 3), None),
    "clustering": (clustering, lambda: random.choice("abcd"), None),
    "probabilities": (probabilities, lambda: random.choice("01"), lambda: "%.3f" % random.random()),
    "multilabel": (multilabel, lambda: "|".join(sorted(random.sample("abcde", random.randint(1, 3)))), None),
}


def case(kind, truth, run, halves):
    values = {}
    for half in ("public", "private"):
        of = [i for i, name in enumerate(halves) if name.lower() == half]
        found = KINDS[kind][0]([truth[i] for i in of], [run[i] for i in of])
        values.update({f"{half}:{name}": float(value) for name, value in found.items()})
    return {"kind": kind, "truth": truth, "run": run, "halves": halves, "values": values}


cases = []
for kind, (_, value, score) in KINDS.items():
    for _ in range(10):
        n = random.randint(30, 60)
        truth = [value() for _ in range(n)]
        run = [score() if score else random.choice([real, value()]) for real in truth]
        cases.append(case(kind, truth, run, random.choices(NAMES, k=n)))

with open("solution.csv") as file:
    solution = list(csv.DictReader(file))
truth = [row["target"] for row in solution]
halves = [row["split"] for row in solution]
cases.append(case("classification", truth, [random.choice([real, real, "0", "1"]) for real in truth], halves))
cases.append(case("probabilities", truth, ["%.3f" % random.betavariate(1 + int(real), 2 - int(real)) for real in truth], halves))

with open("reference.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
