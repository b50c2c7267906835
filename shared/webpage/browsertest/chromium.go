//go:build browser

package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"assay/shared/programtest"

	"github.com/chromedp/chromedp"
)

// chromium starts the one Chromium of the test process when the first page is opened, and returns its context for chromedp. The result
// stands for all tests, so that one crash fails every test that needs a page after it.
//
// Chromium ends after the tests. If their process ends otherwise, by a panic or a timeout of go test, Chromium ends too: its commands
// come through a pipe, which then closes.
var chromium = sync.OnceValues(func() (context.Context, error) {
	profile, err := os.MkdirTemp("", "assay-chromium")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, // as a root user in a container, without a screen
		chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(profile),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { removeAfter(cmd, profile) }),
	)
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, kill := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		kill()
		return nil, errors.Join(fmt.Errorf("start Chromium, which Debian has as the package chromium: %w", err), os.RemoveAll(profile))
	}
	programtest.AtEnd(func() error {
		if ctx.Err() != nil {
			return nil // a crash, which has failed a test
		}
		stopping, stop := context.WithTimeout(ctx, patience)
		defer stop()
		return chromedp.Cancel(stopping)
	})
	return ctx, nil
})

// removeAfter makes a shell run the command, and remove the profile when the command has ended. The shell outlives the tests and the
// signals of a terminal, so that the profile also goes if a test panics. A cancelled context does not kill the shell: Chromium ends by
// itself.
func removeAfter(cmd *exec.Cmd, profile string) {
	const script = `trap : HUP INT TERM
"$@"
status=$?
rm -rf "$0" || { sleep 1; rm -rf "$0"; } # children of Chromium may still write
exit $status`
	cmd.Args = append([]string{"sh", "-c", script, profile, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.Cancel = func() error { return nil }
	cmd.WaitDelay = patience
}
