// Command lambda is the function of the family tools.
package main

import (
	"os"

	"assay/functions/tools"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.ServeWithFiles(tools.Operations, s3.New)) }
