// Package assayv1 is the Go form of the protocol in ../proto. All other files of the package are generated.
package assayv1

//go:generate sh -c "cd ../proto && $DOLLAR{BUF:-../../infra/node_modules/@bufbuild/buf-*/bin/buf} generate"
