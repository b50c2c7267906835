# Fuse two runs by reciprocal rank fusion.
set -eu

LEXICAL=$(printf '1 Q0 lake 1 12.5 lexical\n1 Q0 road 2 11.0 lexical\n1 Q0 pond 3 3.5 lexical\n' | base64 | tr -d '\n')
DENSE=$(printf '1 Q0 lake 1 0.9 dense\n1 Q0 pond 2 0.8 dense\n1 Q0 mere 3 0.7 dense\n' | base64 | tr -d '\n')
curl -sS --fail-with-body -H 'Accept: text/plain' --json '{
  "runs": [
    {"files": [{"name": "lexical.txt", "content": "'"$LEXICAL"'"}]},
    {"files": [{"name": "dense.txt", "content": "'"$DENSE"'"}]}
  ],
  "method": "rrf"
}' "$ASSAY_URL/v1/tools/fuse"
