// Command lambda is the AWS Lambda function that serves package users.
package main

import (
	"os"

	"assay/functions/users"
	"assay/shared/edge/gateway"
)

func main() { os.Exit(gateway.Serve(users.Operations)) }
