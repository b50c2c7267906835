// Command lambda is the AWS Lambda function that serves package evaluations.
package main

import (
	"os"

	"assay/functions/evaluations"
	"assay/shared/edge/gateway"
	"assay/shared/storage/blob/s3"
)

func main() { os.Exit(gateway.ServeWithFiles(evaluations.Operations, s3.New)) }
