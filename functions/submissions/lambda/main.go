// Command lambda is the function of the family submissions.
package main

import (
	"assay/functions/submissions"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { gateway.ServeWithFiles(submissions.Operations, s3.New) }
