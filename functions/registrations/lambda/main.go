// Command lambda is the function of the family registrations.
package main

import (
	"os"

	"assay/functions/registrations"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	var env config.Environment
	os.Exit(gateway.Serve(&env, registrations.Operations, dynamo.New(awsconfig.Table(&env)), nil))
}
