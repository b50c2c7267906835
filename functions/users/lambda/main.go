// Command lambda is the function of the family users.
package main

import (
	"os"

	"assay/functions/users"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.Serve(users.Operations)) }
