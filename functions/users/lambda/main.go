// Command lambda is the function of the family users.
package main

import (
	"assay/functions/users"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(users.Operations, dynamo.New(environment.Table()), nil)
}
