// Command lambda is the function of the family submissions.
package main

import (
	"assay/functions/submissions"
	"assay/shared/blob/s3"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(submissions.Operations, dynamo.New(environment.Table()), s3.New(environment.Bucket()))
}
