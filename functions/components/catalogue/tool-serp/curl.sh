# Save a run as a page of search results, and list the marked words of the query.
set -eu

curl -sS --fail-with-body -H 'Accept: text/html' -o serp.html --json '{
  "run": {"files": [{"name": "run.txt", "text": "1 Q0 pond 1 4.0 mine\n1 Q0 road 2 3.0 mine\n1 Q0 lake 3 2.0 mine\n"}]},
  "topic": "1",
  "query": "deep still water",
  "truth": {"files": [{"name": "qrels.txt", "text": "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n"}]},
  "texts": {"files": [{
    "name": "documents.tsv",
    "text": "lake\tA lake is a large and deep body of still water.\npond\tA pond is a small body of still water.\nroad\tThe road around the water is closed.\n"
  }]}
}' "$ASSAY_URL/v1/tools/serp"
grep -o '<mark>[^<]*' serp.html | sort | uniq -c
echo 'The page is in serp.html'
