// Package assayv1 is the protocol of ../proto in Go. Everything else here is generated.
package assayv1

//go:generate sh -c "cd ../proto && $DOLLAR{BUF:-../../infra/node_modules/@bufbuild/buf-*/bin/buf} generate"
