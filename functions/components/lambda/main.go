// Command lambda is the function of the family components. What it answers is built in; the table has the access tokens that are valid.
package main

import (
	"assay/functions/components"
	"assay/shared/gateway"
)

func main() { gateway.Serve(components.Operations) }
