"""Write mcnemar.json: p of 500 random cases of McNemar's exact test by scipy."""
import json
import random

from scipy.stats import binomtest

random.seed(19)
cases = []
for i in range(500):
    most = random.choice([1, 3, 10, 30, 100, 1000, 10000])
    first, second = random.randint(0, most), random.randint(0, most)
    if i % 5 == 0:
        second = first
    if i % 7 == 0:
        second = round(first * random.uniform(0.9, 1.1))
    if first + second == 0:
        first = 1
    cases.append([first, second, binomtest(first, first + second, 0.5).pvalue])
with open("mcnemar.json", "w", encoding="utf-8") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
