//go:build !race

package main

import "github.com/aws/jsii-runtime-go"

// closeCDK ends Node.js and removes what was unpacked for it.
func closeCDK() { jsii.Close() }
