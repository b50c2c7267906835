// Command lambda is the AWS Lambda function that serves package runs.
package main

import (
	"os"

	"assay/functions/runs"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.ServeWithFiles(runs.Operations, s3.New)) }
