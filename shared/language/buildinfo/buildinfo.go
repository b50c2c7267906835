// Package buildinfo holds the version and the commit of the programs. The server and the command line report them.
package buildinfo

import "runtime/debug"

// Version is the version of the programs and of the API description. CHANGELOG.md describes the changes of each version.
const Version = "0.9.0"

// commit is set by the linker in releases, so that a tree without Git can reproduce the build.
var commit string

// Commit returns the commit that the program was built from. It is empty if the build did not know the commit.
func Commit() string {
	if b, ok := debug.ReadBuildInfo(); ok && commit == "" {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return commit
}
