// Command lambda is the AWS Lambda function that serves package invitations.
package main

import (
	"os"

	"assay/functions/invitations"
	"assay/shared/edge/gateway"
)

func main() { os.Exit(gateway.Serve(invitations.Operations)) }
