// Command lambda is the function of the family registrations.
package main

import (
	"assay/functions/registrations"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(registrations.Operations, dynamo.New(environment.Table()), nil)
}
