// Command lambda is the function of the family evaluations.
package main

import (
	"assay/functions/evaluations"
	"assay/shared/blob/s3"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(evaluations.Operations, dynamo.New(environment.Table()), s3.New(environment.Bucket()))
}
