// Command lambda is the function of the family tools.
package main

import (
	"assay/functions/tools"
	"assay/shared/blob/s3"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(tools.Operations, dynamo.New(environment.Table()), s3.New(environment.Bucket()))
}
