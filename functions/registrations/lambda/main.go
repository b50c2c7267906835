// Command lambda is the function of the family registrations.
package main

import (
	"os"

	"assay/functions/registrations"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(registrations.Operations)) }
