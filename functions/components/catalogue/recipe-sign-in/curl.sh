# Ask the server for its issuer, and the issuer for its endpoints.
set -eu

INFO=$(curl -sS --fail "$ASSAY_URL/info?fields=issuer")
ISSUER=$(printf '%s' "$INFO" | sed 's/.*"issuer":"\([^"]*\)".*/\1/')
curl -sS --fail "$ISSUER/.well-known/openid-configuration"
