// Command lambda is the function of the family components. What it answers is built in; the table has the access tokens that are valid.
package main

import (
	"os"

	"assay/functions/components"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	var env config.Environment
	os.Exit(gateway.Serve(&env, components.Operations, dynamo.New(awsconfig.Table(&env)), nil))
}
