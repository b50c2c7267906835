// Command lambda is the function of the family organizers.
package main

import (
	"assay/functions/organizers"
	"assay/shared/gateway"
)

func main() { gateway.Serve(organizers.Operations) }
