// Command lambda is the function of the family service. It knows the operations of all families, since it describes them
// and answers whatever API Gateway has no route for; those of other families never reach it.
package main

import (
	"os"

	"assay/functions"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(functions.Operations())) }
