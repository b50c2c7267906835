// Command lambda is the function of the family runs.
package main

import (
	"assay/functions/runs"
	"assay/shared/blob/s3"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(runs.Operations, dynamo.New(environment.Table()), s3.New(environment.Bucket()))
}
