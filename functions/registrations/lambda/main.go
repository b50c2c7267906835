// Command lambda is the function of the family registrations.
package main

import (
	"log/slog"
	"os"

	"assay/functions/registrations"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	var env config.Environment
	err := gateway.Serve(&env, registrations.Operations, dynamo.New(awsconfig.Table(&env)), nil)
	slog.Error("the function cannot start", "error", err)
	os.Exit(1)
}
