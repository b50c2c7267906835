// Command lambda is the function of the family invitations.
package main

import (
	"assay/functions/invitations"
	"assay/shared/gateway"
)

func main() { gateway.Serve(invitations.Operations) }
