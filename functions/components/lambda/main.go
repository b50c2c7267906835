// Command lambda is the function of the family components, which has neither a table nor files: what it answers is built in.
package main

import (
	"assay/functions/components"
	"assay/shared/gateway"
)

func main() {
	gateway.Start(components.Operations, nil, nil)
}
