// Command lambda is the function of the family tasks.
package main

import (
	"os"

	"assay/functions/tasks"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.ServeWithFiles(tasks.Operations, s3.New)) }
