// Command lambda is the function of the family console. What it answers is built in.
package main

import (
	"os"

	"assay/functions/console"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(console.Operations)) }
