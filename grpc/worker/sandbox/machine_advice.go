package sandbox

import (
	"fmt"
	"regexp"
)

// machineFault is a message with which Podman or a program of the machine refuses every container, and what an operator does about it.
type machineFault struct {
	said   *regexp.Regexp
	advice string // may refer to groups of said
}

// hybridCgroups is the message of crun on machines with cgroup v1 where some controllers are in version 2. runc works there.
var hybridCgroups = regexp.MustCompile(`cgroups in hybrid mode not supported`)

// machineFaults lists the faults of freshly installed machines, the specific ones first.
var machineFaults = []machineFault{
	{regexp.MustCompile(`no sub[ug]id ranges found for (?:user|group) \\?"([^"\\]+)\\?" in (/[^\s"]+)`),
		`${2} gives no user ids to ${1}, from which Podman takes those of each run: add the line "${1}:2147483647:2147483648" to /etc/subuid ` +
			`and to /etc/subgid, and start the worker again`},
	{regexp.MustCompile(`could not find enough available IDs`),
		`Podman has too few user ids for a run, which takes 65,536: give more to the user "containers", or without root to the worker's user, ` +
			`in /etc/subuid and /etc/subgid, such as with the line "containers:2147483647:2147483648", and start the worker again`},
	{hybridCgroups,
		`Podman's runtime crun does not work with the cgroups of this machine: install runc, which the worker then uses, or boot with cgroup ` +
			`v2 (systemd.unified_cgroup_hierarchy=1)`},
	{regexp.MustCompile(`exec: "newuidmap"`), `without root, Podman needs the program newuidmap: install it (in Debian's package uidmap)`},
	{regexp.MustCompile(`exec: "mkfs\.ext4"`), `as root, the worker needs the program mkfs.ext4: install it (in Debian's package e2fsprogs)`},
	{regexp.MustCompile(`loop device`),
		`as root, the worker needs loop devices for the file systems of outputs: load the kernel's module loop, or run the worker without root`},
	{regexp.MustCompile(`default OCI runtime "([^"]+)" not found`),
		`Podman's runtime ${1} is not installed: install it, or name another in the file that CONTAINERS_CONF names`},
}

// explain adds what an operator does about a fault of the machine to its error.
func explain(err error) error {
	if err == nil {
		return nil
	}
	said := err.Error()
	for _, f := range machineFaults {
		if at := f.said.FindStringSubmatchIndex(said); at != nil {
			return fmt.Errorf("%s. In detail: %w", f.said.ExpandString(nil, f.advice, said, at), err)
		}
	}
	return err
}
