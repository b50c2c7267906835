// Command lambda is the function of the family service. It knows the operations of all families, since it describes them
// and answers whatever API Gateway has no route for; those of other families never reach it.
package main

import (
	"os"

	"assay/functions"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	var env config.Environment
	os.Exit(gateway.Serve(&env, functions.Operations(), dynamo.New(awsconfig.Table(&env)), nil))
}
