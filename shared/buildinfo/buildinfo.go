// Package buildinfo has the version and the commit of the programs, which server and command line both state.
package buildinfo

import "runtime/debug"

// Version is that of the programs and of the description of their interface; CHANGELOG.md says what each brings.
const Version = "0.9.0"

// commit is set by the linker in releases, which a tree without Git can repeat.
var commit string

// Commit is the commit that the program was built from; empty where the build knew none.
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
