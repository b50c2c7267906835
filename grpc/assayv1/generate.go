// Package assayv1 is the protocol of ../proto in Go. Everything else here is generated.
package assayv1

//go:generate sh -c "cd ../proto && ../../infra/node_modules/.bin/buf generate"
