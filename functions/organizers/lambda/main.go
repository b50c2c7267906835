// Command lambda is the function of the family organizers.
package main

import (
	"assay/functions/organizers"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(organizers.Operations, dynamo.New(environment.Table()), nil)
}
