// Command lambda is the function of the family components, which has neither a table nor files: what it answers is built in.
package main

import (
	"log/slog"
	"os"

	"assay/functions/components"
	"assay/shared/config"
	"assay/shared/gateway"
)

func main() {
	var env config.Environment
	err := gateway.Serve(&env, components.Operations, nil, nil)
	slog.Error("the function cannot start", "error", err)
	os.Exit(1)
}
