"""Write reference.json: random sets of labels with the values of scikit-learn 1.x."""
import json
import random
import warnings

from sklearn import metrics
from sklearn.preprocessing import MultiLabelBinarizer

warnings.simplefilter("ignore")  # of what is not defined there, and 0 or zero_division all the same
random.seed(19)
NAMES = ["anger", "joy", "Überraschung", "悲しみ", "self-direction: thought", "0"]
SCORES = {
    "F1": metrics.f1_score,
    "F(beta=0.5,": metrics.fbeta_score,
    "Precision": metrics.precision_score,
    "Recall": metrics.recall_score,
    "Jaccard": metrics.jaccard_score,
}


def draw(n, labels, most):
    return [sorted(random.sample(range(labels), random.randint(0, min(most, labels)))) for _ in range(n)]


def values(truth, predicted):
    """Return the values by the names of measures; those of averages over labels only where the truth has labels."""
    occurring = sorted({label for labels in truth + predicted for label in labels})
    all_of_them = list(range(len(occurring)))
    binarizer = MultiLabelBinarizer(classes=[*occurring, 98, 99])  # a matrix of one column would be one of two classes
    binarizer.fit([])
    real, guess = binarizer.transform(truth), binarizer.transform(predicted)
    found = {"ExactMatch": metrics.accuracy_score(real, guess)}
    true_labels = sorted({label for labels in truth for label in labels})
    if true_labels:
        found["HammingLoss"] = metrics.hamming_loss(real, guess) * real.shape[1] / len(true_labels)
    for name, score in SCORES.items():
        options = {"beta": 0.5} if name.startswith("F(") else {}
        opened = name if name.startswith("F(") else name + "("
        for average in ("macro", "micro", "samples", "weighted"):
            if true_labels or occurring and average == "samples":
                found[f"{opened}average={average})"] = score(real, guess, average=average, labels=all_of_them, **options)
        if true_labels and name in ("F1", "Jaccard"):
            found[f"{opened}average=samples,zero_division=1)"] = score(real, guess, average="samples", zero_division=1)
        if 0 in true_labels:
            found[f"{opened}positive=anger)"] = score(real[:, 0], guess[:, 0], zero_division=0, **options)
        if 0 in true_labels and 1 in true_labels:
            for average in ("macro", "samples"):
                found[f"{opened}average={average},labels='anger,joy')"] = score(
                    real, guess, average=average, labels=[0, 1], **options
                )
    return found


cases = []
for i in range(500):
    n, labels, most = random.randint(1, 20), random.randint(1, 6), random.randint(1, 6)
    truth = draw(n, labels, most) if i % 50 else [[] for _ in range(n)]
    copied = random.random()
    predicted = [t if random.random() < copied else p for t, p in zip(truth, draw(n, random.randint(1, 6), most))]
    if i % 50 == 1:
        predicted = [[] for _ in range(n)]
    cases.append({"truth": truth, "predicted": predicted, "values": {k: float(v) for k, v in values(truth, predicted).items()}})
with open("reference.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
