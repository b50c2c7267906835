package apitest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Transport returns a RoundTripper that checks every exchange it carries over base, so that
// a test's http.Client does so without a word in the test.
func (c *Contract) Transport(t testing.TB, base http.RoundTripper) http.RoundTripper {
	return &transport{c, t, base}
}

type transport struct {
	contract *Contract
	t        testing.TB
	base     http.RoundTripper
}

// RoundTrip reads both bodies into memory, but not those of paths outside the contract, which may be of any size.
func (tr *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	tr.t.Helper()
	if tr.contract.isOutside(request) {
		return tr.base.RoundTrip(request)
	}
	var sent []byte
	if request.Body != nil && request.Body != http.NoBody {
		var err error
		sent, err = io.ReadAll(request.Body)
		if closed := request.Body.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, err
		}
		request = request.Clone(request.Context())
		request.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := tr.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	tr.contract.Check(tr.t, request, sent, response, body)
	return response, nil
}
