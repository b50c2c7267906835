// Command lambda is the function of the family notifications.
package main

import (
	"assay/functions/notifications"
	"assay/shared/gateway"
)

func main() { gateway.Serve(notifications.Operations) }
