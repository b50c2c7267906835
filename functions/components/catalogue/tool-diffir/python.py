"""Put two runs side by side: in numbers, and on a page that is saved."""
import json
import os
from urllib.request import Request, urlopen

QRELS = "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n2 0 lake 1\n"
WORDS = "1 Q0 pond 1 4.0 words\n1 Q0 road 2 3.0 words\n1 Q0 lake 3 2.0 words\n2 Q0 lake 1 2.0 words\n2 Q0 pond 2 1.0 words\n"
MEANING = "1 Q0 lake 1 0.9 meaning\n1 Q0 pond 2 0.8 meaning\n1 Q0 brook 3 0.2 meaning\n2 Q0 lake 1 0.7 meaning\n2 Q0 pond 2 0.6 meaning\n"
DOCUMENTS = """lake\tA lake is a large body of still water, deeper than a pond.
pond\tA pond is a small body of still water.
road\tThe road around the water is closed.
brook\tA brook is a small stream.
"""
QUERIES = "1\tdeep still water\n2\tlakes\n"


def compare(accept):
    """Return the comparison as the media type."""
    request = Request(
        os.environ["ASSAY_URL"] + "/v1/tools/diffir",
        data=json.dumps({
            "runs": [
                {"name": "words", "files": [{"name": "words.txt", "text": WORDS}]},
                {"name": "meaning", "files": [{"name": "meaning.txt", "text": MEANING}]},
            ],
            "truth": {"files": [{"name": "qrels.txt", "text": QRELS}]},
            "texts": {"files": [{"name": "documents.tsv", "text": DOCUMENTS}, {"name": "queries.tsv", "text": QUERIES}]},
        }).encode(),
        headers={"Content-Type": "application/json", "Accept": accept},
    )
    with urlopen(request, timeout=30) as answer:
        return answer.read()


for topic in json.loads(compare("application/json"))["topics"]:
    changes = topic["comparisons"][0]["shown"]
    print(f"topic {topic['topic']}: overlap {topic['overlap']:.4f},", ", ".join(f"{n} {what}" for what, n in changes.items()))
with open("diffir.html", "wb") as page:
    page.write(compare("text/html"))
print("The page is in diffir.html")
