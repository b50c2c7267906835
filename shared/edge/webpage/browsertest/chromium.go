//go:build browser

package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"assay/shared/testing/programtest"

	"github.com/chromedp/chromedp"
)

// chromium starts the Chromium of the test process at the first call, and returns its context for chromedp. All tests share the result,
// so after a crash every test that needs a page fails.
//
// Chromium ends after the tests. If their process ends early, through a panic or a timeout of go test, Chromium ends too, because the
// pipe for its commands closes.
var chromium = sync.OnceValues(func() (context.Context, error) {
	profile, err := os.MkdirTemp("", "assay-chromium")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, // needed for root in a container without a screen
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
			return nil // Chromium crashed, and a test has failed
		}
		stopping, stop := context.WithTimeout(ctx, patience)
		defer stop()
		return chromedp.Cancel(stopping)
	})
	return ctx, nil
})

// removeAfter makes a shell run the command and then remove the profile. The shell outlives the tests and the signals of a terminal, so
// the profile is removed even if a test panics. A cancelled context does not kill the shell; Chromium ends by itself.
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
