// Command lambda is the AWS Lambda function that serves package datasets.
package main

import (
	"os"

	"assay/functions/datasets"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.ServeWithFiles(datasets.Operations, s3.New)) }
