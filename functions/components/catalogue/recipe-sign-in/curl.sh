# Ask the server for its issuer, and the issuer for its endpoints.
set -eu

ISSUER=$(curl -sS --fail "$ASSAY_URL/info?fields=issuer" | sed 's/.*"issuer":"\([^"]*\)".*/\1/')
curl -sS --fail "$ISSUER/.well-known/openid-configuration"
