// Command lambda is the AWS Lambda function that serves package notifications.
package main

import (
	"os"

	"assay/functions/notifications"
	"assay/shared/edge/gateway"
)

func main() {
	os.Exit(gateway.Serve(notifications.Operations))
}
