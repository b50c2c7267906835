// Command lambda is the function of the family components, which has neither a table nor files: what it answers is built in.
package main

import (
	"os"

	"assay/functions/components"
	"assay/shared/config"
	"assay/shared/gateway"
)

func main() {
	var env config.Environment
	os.Exit(gateway.Serve(&env, components.Operations, nil, nil))
}
