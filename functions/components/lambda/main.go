// Command lambda is the function of the family components. What it answers is built in; the table has the access tokens that are valid.
package main

import (
	"os"

	"assay/functions/components"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(components.Operations)) }
