# Send a request twice, and get one resource.
set -eu

# api calls the server, and again when it or a gateway in front of it is busy (429, 503), as Retry-After says.
# The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body --retry 5 -K - "$@"; }

# post creates something and prints its path. It passes further arguments to curl.
post() {
  LOCATION=$1 BODY=$2
  shift 2
  api -o /dev/null -w '%header{location}' --json "$BODY" "$@" "$ASSAY_URL$LOCATION"
}

KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
FIRST=$(post /v1/organizers '{"name": "My lab"}' -H "Idempotency-Key: $KEY")
AGAIN=$(post /v1/organizers '{"name": "My lab"}' -H "Idempotency-Key: $KEY")
[ "$FIRST" = "$AGAIN" ] && echo "the same lab: $AGAIN"
