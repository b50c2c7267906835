// Command lambda is the AWS Lambda function that serves package deletions.
package main

import (
	"os"

	"assay/functions/deletions"
	"assay/shared/edge/gateway"
)

func main() { os.Exit(gateway.Serve(deletions.Operations)) }
