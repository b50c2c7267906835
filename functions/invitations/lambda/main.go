// Command lambda is the function of the family invitations.
package main

import (
	"os"

	"assay/functions/invitations"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(invitations.Operations)) }
