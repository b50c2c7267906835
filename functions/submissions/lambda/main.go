// Command lambda is the AWS Lambda function that serves package submissions.
package main

import (
	"os"

	"assay/functions/submissions"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.ServeWithFiles(submissions.Operations, s3.New)) }
