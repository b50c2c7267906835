// Command lambda is the AWS Lambda function that serves package registrations.
package main

import (
	"os"

	"assay/functions/registrations"
	"assay/shared/edge/gateway"
)

func main() { os.Exit(gateway.Serve(registrations.Operations)) }
