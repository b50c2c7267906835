// Command lambda is the function of the family notifications.
package main

import (
	"os"

	"assay/functions/notifications"
	"assay/shared/gateway"
)

func main() {
	os.Exit(gateway.Serve(notifications.Operations))
}
