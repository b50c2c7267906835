// Command lambda is the function of the family datasets.
package main

import (
	"assay/functions/datasets"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { gateway.ServeWithFiles(datasets.Operations, s3.New) }
