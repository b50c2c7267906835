//go:build s3

package functions_test

import (
	"net/http"
	"testing"

	"assay/functions/acceptancetest"
)

// TestDeployed_NeedsNoOtherRights runs the whole scenario against functions that can do what their deployment facts allow, and
// nothing else: their roles are made of the same facts.
func TestDeployed_NeedsNoOtherRights(t *testing.T) {
	d := deploy(t, build(t), true)
	s := d.setup()
	s.Client = http.DefaultClient
	acceptancetest.Scenario(t, s)
}
