// Command lambda is the function of the family users.
package main

import (
	"log/slog"
	"os"

	"assay/functions/users"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	var env config.Environment
	err := gateway.Serve(&env, users.Operations, dynamo.New(awsconfig.Table(&env)), nil)
	slog.Error("the function cannot start", "error", err)
	os.Exit(1)
}
