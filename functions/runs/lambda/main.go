// Command lambda is the AWS Lambda function that serves package runs.
package main

import (
	"os"

	"assay/functions/runs"
	"assay/shared/edge/gateway"
	"assay/shared/storage/blob/s3"
)

func main() { os.Exit(gateway.ServeWithFiles(runs.Operations, s3.New)) }
