// Command release packs the programs that `make release` has built. It makes images (OCI image layout 1.1) without a container engine, and
// wheels (PEP 427) without Python. Its output depends only on its input, not on the time, the folder or the user.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	if err := errors.Join(run(os.Args[1:], out), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run writes an image for the architectures, or the wheel with tags such as py3-none-win_amd64.
func run(args []string, out io.Writer) error {
	switch {
	case len(args) > 3 && args[0] == "image":
		return writeImage(out, args[1], args[2], args[3:])
	case len(args) == 4 && args[0] == "wheel":
		return writeWheel(out, args[1], args[2], args[3])
	}
	return errors.New("usage: release image NAME DOCKERFILE ARCHITECTURE... or release wheel TAGS PROGRAM MODULE")
}
