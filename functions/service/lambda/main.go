// Command lambda is the function of the family service. It knows the operations of all families, since it describes them
// and answers whatever API Gateway has no route for; those of other families never reach it.
package main

import (
	"assay/functions"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(functions.Operations(), dynamo.New(environment.Table()), nil)
}
