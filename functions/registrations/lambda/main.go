// Command lambda is the function of the family registrations.
package main

import (
	"assay/functions/registrations"
	"assay/shared/gateway"
)

func main() { gateway.Serve(registrations.Operations) }
