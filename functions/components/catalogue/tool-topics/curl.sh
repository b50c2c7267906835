# Find the hard topics, and save the heat map of runs and topics.
set -eu

WORDS=$(printf '1 Q0 lake 1 2 w\n1 Q0 pond 2 1 w\n2 Q0 lake 1 1 w\n3 Q0 road 1 2 w\n3 Q0 lake 2 1 w\n' | base64 | tr -d '\n')
MEANING=$(printf '1 Q0 lake 1 2 m\n1 Q0 pond 2 1 m\n2 Q0 road 1 2 m\n2 Q0 lake 2 1 m\n3 Q0 pond 1 1 m\n' | base64 | tr -d '\n')
QRELS=$(printf '1 0 lake 1\n2 0 lake 1\n3 0 lake 1\n' | base64 | tr -d '\n')
INPUT='{
  "runs": [
    {"name": "words", "files": [{"name": "words.txt", "content": "'"$WORDS"'"}]},
    {"name": "meaning", "files": [{"name": "meaning.txt", "content": "'"$MEANING"'"}]}
  ],
  "truth": {"files": [{"name": "qrels.txt", "content": "'"$QRELS"'"}]},
  "measure": "AP"
}'

# What is computed from an input has an address, which a browser opens too.
ask() { curl -sS --fail-with-body -G --data-urlencode "input=$INPUT" "$@" "$ASSAY_URL/v1/tools/topics/result"; }

ask
ask -H 'Accept: image/svg+xml' -o topics.svg
printf '\nThe heat map is in topics.svg\n'
