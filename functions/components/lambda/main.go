// Command lambda is the function of the family components. Its answers are part of the program. It reads only access tokens from
// the table.
package main

import (
	"os"

	"assay/functions/components"
	"assay/shared/edge/gateway"
)

func main() { os.Exit(gateway.Serve(components.Operations)) }
