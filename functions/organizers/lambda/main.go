// Command lambda is the function of the family organizers.
package main

import (
	"os"

	"assay/functions/organizers"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	var env config.Environment
	os.Exit(gateway.Serve(&env, organizers.Operations, dynamo.New(awsconfig.Table(&env)), nil))
}
