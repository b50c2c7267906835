// Command lambda is the function of the family users.
package main

import (
	"assay/functions/users"
	"assay/shared/gateway"
)

func main() { gateway.Serve(users.Operations) }
