# Find the hard topics, and save the heat map of runs and topics.
set -eu

INPUT='{
  "runs": [
    {"name": "words", "files": [{"name": "words.txt", "text": "1 Q0 lake 1 2 w\n2 Q0 lake 1 1 w\n3 Q0 road 1 2 w\n3 Q0 lake 2 1 w\n"}]},
    {"name": "meaning", "files": [{"name": "meaning.txt", "text": "1 Q0 lake 1 2 m\n2 Q0 road 1 2 m\n2 Q0 lake 2 1 m\n3 Q0 pond 1 1 m\n"}]}
  ],
  "truth": {"files": [{"name": "qrels.txt", "text": "1 0 lake 1\n2 0 lake 1\n3 0 lake 1\n"}]},
  "measure": "AP"
}'

# The result for an input has an address, which a browser can open, too.
ask() { curl -sS --fail-with-body -G --data-urlencode "input=$INPUT" "$@" "$ASSAY_URL/v1/tools/topics/result"; }

ask
ask -H 'Accept: image/svg+xml' -o topics.svg
printf '\nThe heat map is in topics.svg\n'
