// Command lambda is the function of the family tasks.
package main

import (
	"assay/functions/tasks"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { gateway.ServeWithFiles(tasks.Operations, s3.New) }
