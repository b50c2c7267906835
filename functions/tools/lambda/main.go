// Command lambda is the function of the family tools.
package main

import (
	"os"

	"assay/functions/tools"
	"assay/shared/edge/gateway"
	"assay/shared/storage/blob/s3"
)

func main() { os.Exit(gateway.ServeWithFiles(tools.Operations, s3.New)) }
