// Command lambda is the AWS Lambda function that serves package tasks.
package main

import (
	"os"

	"assay/functions/tasks"
	"assay/shared/edge/gateway"
	"assay/shared/storage/blob/s3"
)

func main() { os.Exit(gateway.ServeWithFiles(tasks.Operations, s3.New)) }
