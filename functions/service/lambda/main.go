// Command lambda is the AWS Lambda function that serves package service. It also answers requests for which API Gateway has no route.
package main

import (
	"os"

	"assay/functions/service"
	"assay/shared/edge/gateway"
)

func main() { os.Exit(gateway.Serve(service.Operations)) }
