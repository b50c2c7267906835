// Command lambda is the AWS Lambda function that serves package console.
package main

import (
	"os"

	"assay/functions/console"
	"assay/shared/edge/gateway"
)

func main() { os.Exit(gateway.Serve(console.Operations)) }
