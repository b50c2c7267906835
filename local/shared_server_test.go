package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"assay/shared/testing/programtest"
)

// sharedServer starts one server for all tests that only use resources of their own. It ends after the tests.
var sharedServer = sync.OnceValues(func() (*testServer, error) {
	data, err := os.MkdirTemp("", "assay-shared")
	if err != nil {
		return nil, err
	}
	programtest.AtEnd(func() error { return os.RemoveAll(data) })
	c, err := parse([]string{"-addr", "127.0.0.1:0", "-grpc-addr", "", "-data", data, "-demo=false", "-rates", noRates}, noEnv, io.Discard)
	if err != nil {
		return nil, err
	}
	s, end, err := begin(c, io.Discard)
	if err != nil {
		return nil, err
	}
	programtest.AtEnd(end)
	return s, nil
})

// sharers counts the tests that use the shared server.
var sharers atomic.Int32

// useShared returns the shared server. The same name of a user means a different user in each test.
func useShared(t testing.TB) *testServer {
	t.Helper()
	common, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	s := *common
	s.users = fmt.Sprint("-", sharers.Add(1))
	return &s
}
