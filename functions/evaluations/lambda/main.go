// Command lambda is the AWS Lambda function that serves package evaluations.
package main

import (
	"os"

	"assay/functions/evaluations"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.ServeWithFiles(evaluations.Operations, s3.New)) }
