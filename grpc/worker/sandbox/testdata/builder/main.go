// Command builder imitates a Buildah whose mounts let a build escape: it always prints what Buildah prints when a build executes it from
// a mount.
package main

import "fmt"

var version string

func main() { fmt.Println("buildah version", version, "(image-spec 1.1.1, runtime-spec 1.2.1)") }
