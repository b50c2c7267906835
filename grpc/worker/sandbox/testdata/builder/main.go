// Command builder answers as a Buildah does whose mounts lead out of a build: whatever it is to build, it prints what Buildah
// prints when a build could execute it from a mount.
package main

import "fmt"

var version string

func main() { fmt.Println("buildah version", version, "(image-spec 1.1.1, runtime-spec 1.2.1)") }
