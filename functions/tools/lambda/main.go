// Command lambda is the function of the family tools.
package main

import (
	"assay/functions/tools"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { gateway.ServeWithFiles(tools.Operations, s3.New) }
