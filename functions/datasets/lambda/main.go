// Command lambda is the AWS Lambda function that serves package datasets.
package main

import (
	"os"

	"assay/functions/datasets"
	"assay/shared/edge/gateway"
	"assay/shared/storage/blob/s3"
)

func main() { os.Exit(gateway.ServeWithFiles(datasets.Operations, s3.New)) }
