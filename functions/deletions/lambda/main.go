// Command lambda is the function of the family deletions.
package main

import (
	"assay/functions/deletions"
	"assay/shared/gateway"
)

func main() { gateway.Serve(deletions.Operations) }
