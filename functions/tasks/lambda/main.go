// Command lambda is the function of the family tasks.
package main

import (
	"assay/functions/tasks"
	"assay/shared/blob/s3"
	"assay/shared/environment"
	"assay/shared/gateway"
	"assay/shared/store/dynamo"
)

func main() {
	gateway.Start(tasks.Operations, dynamo.New(environment.Table()), s3.New(environment.Bucket()))
}
