package api

import (
	"testing"

	"assay/shared/domain/page"
)

// TestAddShown_ForgottenJSONIsMadeAgain fills the cache until it drops the JSON of a resource, and then adds the resource again.
func TestAddShown_ForgottenJSONIsMadeAgain(t *testing.T) {
	type key struct{ n int }
	shown := func(n, text int) string {
		var p page.Page[int]
		if _, err := AddShown(&p, text, key{n}); err != nil {
			t.Fatal(err)
		}
		body, err := p.JSON(func(resource []byte) ([]byte, error) { return resource, nil })
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	first := shown(0, 1)
	if again := shown(0, 2); again != first {
		t.Errorf("%s is shown while %s is kept", again, first)
	}
	for n := range maxEncoded {
		shown(n+1, 1)
	}
	if again := shown(0, 2); again == first {
		t.Errorf("%s is still kept", first)
	}
}
