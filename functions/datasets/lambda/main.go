// Command lambda is the function of the family datasets.
package main

import (
	"assay/functions/datasets"
	"assay/shared/blob/s3"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(datasets.Operations, dynamo.New(environment.Table()), s3.New(environment.Bucket()))
}
