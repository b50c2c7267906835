// Command lambda is the function of the family deletions.
package main

import (
	"os"

	"assay/functions/deletions"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(deletions.Operations)) }
