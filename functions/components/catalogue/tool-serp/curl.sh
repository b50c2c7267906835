# Save a run as a page of search results, and list the words of the query that it marks.
set -eu

RUN=$(printf '1 Q0 pond 1 4.0 mine\n1 Q0 road 2 3.0 mine\n1 Q0 lake 3 2.0 mine\n' | base64 | tr -d '\n')
QRELS=$(printf '1 0 lake 2\n1 0 pond 1\n1 0 road 0\n' | base64 | tr -d '\n')
DOCUMENTS=$(base64 <<'TSV' | tr -d '\n'
lake	A lake is a large body of still water, deeper than a pond.
pond	A pond is a small body of still water.
road	The road around the water is closed.
TSV
)
curl -sS --fail-with-body -H 'Accept: text/html' -o serp.html --json '{
  "run": {"files": [{"name": "run.txt", "content": "'"$RUN"'"}]},
  "topic": "1",
  "query": "deep still water",
  "truth": {"files": [{"name": "qrels.txt", "content": "'"$QRELS"'"}]},
  "texts": {"files": [{"name": "documents.tsv", "content": "'"$DOCUMENTS"'"}]}
}' "$ASSAY_URL/v1/tools/serp"
grep -o '<mark>[^<]*' serp.html | sort | uniq -c
echo 'The page is in serp.html'
