// Command lambda is the function of the family users.
package main

import (
	"os"

	"assay/functions/users"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	var env config.Environment
	os.Exit(gateway.Serve(&env, users.Operations, dynamo.New(awsconfig.Table(&env)), nil))
}
