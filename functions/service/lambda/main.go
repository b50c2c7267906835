// Command lambda is the function of the family service, which also answers whatever API Gateway has no route for.
package main

import (
	"os"

	"assay/functions/service"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(service.Operations)) }
