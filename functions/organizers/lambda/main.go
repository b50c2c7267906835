// Command lambda is the AWS Lambda function that serves package organizers.
package main

import (
	"os"

	"assay/functions/organizers"
	"assay/shared/edge/gateway"
)

func main() { os.Exit(gateway.Serve(organizers.Operations)) }
