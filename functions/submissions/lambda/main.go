// Command lambda is the AWS Lambda function that serves package submissions.
package main

import (
	"os"

	"assay/functions/submissions"
	"assay/shared/edge/gateway"
	"assay/shared/storage/blob/s3"
)

func main() { os.Exit(gateway.ServeWithFiles(submissions.Operations, s3.New)) }
