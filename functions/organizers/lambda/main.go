// Command lambda is the function of the family organizers.
package main

import (
	"os"

	"assay/functions/organizers"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(organizers.Operations)) }
