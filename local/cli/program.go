package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/local/cli/client"
	"assay/local/cli/signin"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/buildinfo"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// program is the state that all commands share: inputs, outputs and common flags.
type program struct {
	in        io.Reader
	out, errs io.Writer
	getenv    func(string) string
	folder    string // folder with the settings of programs
	terminal  bool   // whether a person watches errs
	json      bool
	server    string // URL of the flag and later of the server in use
	begun     bool   // arguments and flags are valid
	known     bool   // requests name the user
	warned    []warned
}

// command is a command of the program.
type command struct {
	use, short string // like in cobra.Command
	more       string // further text of the help
	example    string
	args       cobra.PositionalArgs
	flags      func(*pflag.FlagSet)
	run        func(*call)
	commands   []command
}

// call is one invocation of a command. After an error it sends and prints nothing more, and run returns the error.
type call struct {
	*program
	*client.Client // nil until connect
	ctx            context.Context
	args           []string
	flags          *pflag.FlagSet
	err            error
	words          words
	about          *serverInfo             // of the server, after info
	user           *me                     // the caller, after me
	guess          string                  // how files are read, if that was guessed
	instead        string                  // what names another way to read them
	ranks          bool                    // whether files are read as rankings
	opened         map[string]scoring.File // files by path, because pipes and standard input can be read only once
	temporary      string                  // folder of files that are deleted in the end; empty if there is none
}

// The methods text, yes and number return the values of flags of these types.
func (c *call) text(name string) string { v, _ := c.flags.GetString(name); return v }
func (c *call) yes(name string) bool    { v, _ := c.flags.GetBool(name); return v }
func (c *call) number(name string) int  { v, _ := c.flags.GetInt(name); return v }

// fill copies flags to members of a body. The map has the member of each flag. Flags without a text, or that are off, are left out.
func (c *call) fill(body map[string]any, members map[string]string) {
	for flag, member := range members {
		if text := c.text(flag); text != "" {
			body[member] = text
		} else if c.yes(flag) {
			body[member] = true
		}
	}
}

// arg returns the argument at an index, or an empty string.
func (c *call) arg(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return ""
}

// fail stores the first error, and reports whether there is one.
func (c *call) fail(err error) bool {
	c.err = cmp.Or(c.err, err)
	return c.err != nil
}

// ask sends a request and returns the answer.
func ask[T any](c *call, method, path string, body any) (v T) {
	if c.err == nil {
		v, c.err = client.Call[T](c.ctx, c.Client, method, path, body)
	}
	return v
}

// get, post and patch call ask for resources.
func (c *call) get(path string) object            { return ask[object](c, http.MethodGet, path, nil) }
func (c *call) post(path string, body any) object { return ask[object](c, http.MethodPost, path, body) }
func (c *call) patch(path string, body any) object {
	return ask[object](c, http.MethodPatch, path, body)
}

// all returns the resources of all pages of a list.
func all[T any](c *call, path string) (list []T) {
	if c.err == nil {
		list, c.err = client.List[T](c.ctx, c.Client, path)
	}
	return list
}

// root returns the command that contains all other commands.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{Use: "assay", Long: about, SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print JSON, in the form of the API")
	root.PersistentFlags().StringVar(&p.server, "server", "", "URL of the server, instead of the one that was signed in to last (ASSAY_URL)")
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			made := p.cobra(c)
			made.GroupID = g.title
			root.AddCommand(made)
		}
	}
	pages := func(cmd *cobra.Command, args []string) error {
		p.begun = true
		if err := checkFlags("man", cmd.Flags(), args); err != nil {
			return err
		}
		return doc.GenManTree(root, &doc.GenManHeader{Title: "ASSAY", Section: "1"}, args[0])
	}
	man := command{use: "man FOLDER", short: "Write the manual pages", args: cobra.ExactArgs(1)}
	root.AddCommand(&cobra.Command{Use: man.use, Short: man.short, Args: man.checkArgs, RunE: pages})
	return root
}

// cobra returns the cobra.Command of a command and its subcommands.
func (p *program) cobra(c command) *cobra.Command {
	made := &cobra.Command{Use: c.use, Short: c.short, Long: c.short + ".", Example: c.example, Args: c.checkArgs}
	if c.more != "" {
		made.Long += "\n\n" + c.more
	}
	if c.flags != nil {
		c.flags(made.Flags())
	}
	made.RunE = func(cmd *cobra.Command, args []string) error {
		p.begun = true
		invoked := &call{program: p, ctx: cmd.Context(), args: args, flags: cmd.Flags(), opened: map[string]scoring.File{}}
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		invoked.words = words{command: name, args: args}
		if !invoked.fail(checkFlags(name, cmd.Flags(), args)) {
			c.run(invoked)
		}
		if invoked.temporary != "" {
			invoked.fail(os.RemoveAll(invoked.temporary))
		}
		return invoked.err
	}
	for _, below := range c.commands {
		made.AddCommand(p.cobra(below))
	}
	return made
}

// run executes the command that the arguments name, and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.errs)
	if err := unknownTopic(root, args); err != nil {
		p.tell("assay: " + err.Error())
		return failed
	}
	of, err := root.ExecuteContextC(ctx)
	if err == nil {
		return done
	}
	r := p.refuse(err, of.CommandPath())
	if !p.begun {
		r.text += suggestion(err, of)
	}
	p.tell("assay: " + strings.TrimSpace(r.text))
	if r.heal != "" {
		p.note("Try: %s", r.heal)
	}
	return r.code
}

// connect sets the client for a server. The name is the URL of one of its pages. If it is empty, the flag, the environment or the latest
// sign-in names the server, in this order.
func (c *call) connect(named string) {
	file, err := signin.Open(filepath.Join(c.folder, "assay"))
	if c.fail(err) {
		return
	}
	own := cmp.Or(c.server, c.getenv("ASSAY_URL"), file.Current)
	text := cmp.Or(named, own)
	u, err := url.Parse(text)
	switch {
	case text == "" && c.getenv("ASSAY_TOKEN") != "":
		c.fail(&refusal{notSignedIn, "ASSAY_TOKEN is set, but no server is known.", "set ASSAY_URL, such as ASSAY_URL=https://assay.example.org"})
		return
	case text == "":
		c.fail(&refusal{notSignedIn, "You are signed in to no server.", "assay login https://assay.example.org"})
		return
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		c.fail(&refusal{failed, fmt.Sprintf("%q is no URL of a server, such as https://assay.example.org", text), ""})
		return
	}
	u = &url.URL{Scheme: u.Scheme, Host: u.Host}
	c.server = u.String()
	c.about, c.user = nil, nil
	c.words.server = c.server
	mine := own == text || onServer(own, c.server) // A link from somebody else gets no token.
	file.Notify = c.noteWait
	c.Client = client.New(u, "assay/"+buildinfo.Version, c.noteWait)
	c.Words = c.words.problem
	c.Token = func(ctx context.Context, refused bool) (string, error) {
		if token := strings.TrimSpace(c.getenv("ASSAY_TOKEN")); token != "" && mine {
			c.known = true
			return token, nil
		}
		token, err := file.Fresh(ctx, c.server, refused)
		c.known = token != ""
		return token, err
	}
}

// noteWait says why a request is repeated, and when.
func (c *call) noteWait(why string, wait time.Duration) {
	c.note("%s; trying again in %s", why, wait.Round(100*time.Millisecond))
}

// online returns a command that connects to a server first.
func online(run func(*call)) func(*call) {
	return func(c *call) {
		c.connect("")
		if c.err == nil {
			run(c)
		}
	}
}

// inTask returns a command on the task that its first argument names.
func inTask(run func(*call, object)) func(*call) {
	return func(c *call) {
		task := c.task(c.arg(0))
		if c.err == nil {
			run(c, task)
		}
	}
}
