// Command lambda is the AWS Lambda function that serves package tasks.
package main

import (
	"os"

	"assay/functions/tasks"
	"assay/shared/blob/s3"
	"assay/shared/gateway"
)

func main() { os.Exit(gateway.ServeWithFiles(tasks.Operations, s3.New)) }
