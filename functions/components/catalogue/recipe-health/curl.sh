# Wait until the server is up, and show its version.
set -eu

curl -sS --fail --retry 10 --retry-connrefused --retry-delay 1 "$ASSAY_URL/health"
curl -sS --fail "$ASSAY_URL/info?fields=name,version,limits"
