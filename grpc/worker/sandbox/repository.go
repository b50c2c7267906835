package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
)

// cloneTimeout bounds a clone.
const cloneTimeout = 15 * time.Minute

// refPattern matches the accepted names of commits, tags and branches: a subset of git's, without names that could be options.
var refPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+@-]*$`)

// clone clones the repository into the folder at the ref, or at its default branch, and returns the commit.
func (g *git) clone(ctx context.Context, address, ref string, log *output.Log) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", failure.New("The repository must have an https URL without a user name.")
	}
	if ref != "" && !refPattern.MatchString(ref) {
		return "", failure.New("The ref must be the name of a commit, a tag or a branch.")
	}
	bounded, cancel := context.WithTimeout(ctx, cloneTimeout)
	defer cancel()
	if err := g.run(bounded, "init", "--quiet"); err != nil {
		return "", err
	}
	wanted := cmp.Or(ref, "HEAD")
	// git itself would wait for minutes for a host that does not answer.
	soon, stop := context.WithTimeout(bounded, answerTimeout)
	defer stop()
	if err := g.run(soon, "ls-remote", "--quiet", "--", address, "HEAD"); err != nil {
		return "", g.cloneError(ctx, err)
	}
	// Some servers refuse to serve a single commit. Then everything is fetched.
	target := "FETCH_HEAD^{commit}"
	if err := g.run(bounded, "fetch", "--quiet", "--depth=1", "--", address, wanted); err != nil {
		if err := g.run(bounded, "fetch", "--quiet", "--tags", "--", address, "+HEAD:refs/remotes/origin/HEAD",
			"+refs/heads/*:refs/remotes/origin/*"); err != nil {
			return "", g.cloneError(ctx, err)
		}
		if target, err = g.resolve(bounded, wanted); err != nil {
			return "", failure.New("The repository has no commit, tag or branch %q.", wanted)
		}
	}
	if err := g.run(bounded, "checkout", "--quiet", "--detach", target, "--"); err != nil {
		return "", g.cloneError(ctx, err)
	}
	commit, err := g.output(bounded, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	g.outage.reset()
	log.Printf("The repository %s is cloned at commit %s.", address, commit)
	return commit, nil
}

// git runs git in a folder, so that no configuration or hook of the repository or the machine runs another program.
type git struct {
	folder string
	log    *slog.Logger
	outage *outage
	said   headBuffer // standard error of the last command
}

var gitOptions = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "credential.helper=", "-c", "submodule.recurse=false",
	"-c", "protocol.allow=never", "-c", "protocol.https.allow=always", "-c", "gc.auto=0",
	"-c", "advice.detachedHead=false", "-c", "init.defaultBranch=main", "-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60",
}

// forwardedVariables lists the variables with which git and its helpers find proxies and certificate authorities.
var forwardedVariables = []string{
	"PATH", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY",
	"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

func (g *git) output(ctx context.Context, args ...string) (string, error) {
	cmd := groupCommand(ctx, "git", slices.Concat(gitOptions, args)...)
	cmd.Dir = g.folder
	cmd.Env = []string{
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(g.folder), "HOME=" + filepath.Dir(g.folder), "LC_ALL=C",
	}
	for _, name := range forwardedVariables {
		if v := os.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	g.said = headBuffer{}
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &g.said
	err := runGroup(cmd)
	return strings.TrimSpace(stdout.String()), err
}

func (g *git) run(ctx context.Context, args ...string) error {
	_, err := g.output(ctx, args...)
	return err
}

// resolve returns the commit of a short hash, a tag or a branch, after everything was fetched.
func (g *git) resolve(ctx context.Context, ref string) (commit string, err error) {
	for _, name := range []string{"refs/tags/" + ref, "refs/remotes/origin/" + ref, ref} {
		if commit, err = g.output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}"); err == nil {
			break
		}
	}
	return commit, err
}

// cloneError returns the same error for every cause. Only the worker's own log shows git's messages about hosts and addresses.
func (g *git) cloneError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	g.log.Warn("a repository cannot be cloned", "error", err, "git", g.said.String())
	if g.outage.recordFailure() {
		return fmt.Errorf("%d clones have failed in a row: %w", maxOutageFailures, err)
	}
	return failure.New("The repository cannot be cloned. Is its address right, does its server answer, may everybody read it, and is it "+
		"small enough to be cloned within %s?", cloneTimeout)
}
