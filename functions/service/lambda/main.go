// Command lambda is the function of the family service, which also answers whatever API Gateway has no route for.
package main

import (
	"assay/functions/service"
	"assay/shared/gateway"
)

func main() { gateway.Serve(service.Operations) }
