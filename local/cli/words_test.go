package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/local/cli/client"
	"assay/shared/language/problem"
	"assay/shared/testing/programtest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// apiOnly are patterns that no sentence for a terminal has, unless the user wrote them: requests, paths, pointers, instants and names of
// the API.
var apiOnly = regexp.MustCompile("\\b(GET|HEAD|POST|PUT|PATCH|DELETE)\\b|(^|[\\s(\"=])/[A-Za-z]|/v1\\b|\\d{4}-\\d\\d-\\d\\dT\\d\\d|" +
	"\\b[a-z]+[A-Z][a-z]|filter\\[|merge patch|`|\\{|\\}|" + idPattern.String())

// wantWords fails if a sentence has words that are foreign in a terminal.
func wantWords(t *testing.T, of, text string) {
	t.Helper()
	if found := apiOnly.FindString(text); found != "" {
		t.Errorf("%s says %q in %q", of, found, text)
	}
}

// wordsOf returns the words of an invocation of a command with two files.
func wordsOf(command string) *words {
	return &words{command: command, args: []string{"Lake search", "Lakes=a.txt", "b.txt"}, server: "https://lab.example",
		taskID: someTask, task: "Lake search"}
}

// requests are the schemas of the bodies that commands send.
var requests = map[string][]string{
	"submit": {"SubmissionDraft", "RegistrationDraft", "RegistrationPatch"},
	"join":   {"MembershipDraft", "RegistrationDraft", "RegistrationPatch"},
	"invite": {"InvitationDraft"}, "tokens create": {"AccessTokenDraft"}, "announce": {"AnnouncementDraft"}, "review": {"ReviewsPatch"},
	"leaderboard": {"LeaderboardInput"}, "compare": {"SignificanceInput"}, "registrations accept": {"RegistrationPatch"},
	"final": {"RunPatch"}, "cancel": {"RunPatch"},
}

// TestWords_NameEveryMember says each member of the requests of each command.
func TestWords_NameEveryMember(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(programtest.Root(t), "functions", "service", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	for command, schemas := range requests {
		w := wordsOf(command)
		pointers := map[string]bool{}
		var walk func(pointer string, of any)
		walk = func(pointer string, of any) {
			schema, _ := of.(map[string]any)
			if name, ok := schema["$ref"].(string); ok {
				schema = document.Components.Schemas[filepath.Base(name)]
			}
			if pointers[pointer] || schema == nil {
				return
			}
			pointers[pointer] = true
			walk(pointer+"/1", schema["items"])
			properties, _ := schema["properties"].(map[string]any)
			for name, member := range properties {
				walk(pointer+"/"+name, member)
			}
		}
		for _, name := range schemas {
			pointers[""] = false
			if document.Components.Schemas[name] == nil {
				t.Fatalf("there is no schema %s", name)
			}
			walk("", document.Components.Schemas[name])
		}
		for pointer := range pointers {
			wantWords(t, command+" of "+pointer, w.place(pointer))
		}
		for pointer := range inputs[command] {
			if pointer[0] == '/' && !pointers[strings.ReplaceAll(pointer, "*", "1")] && pointer != "/datasetId" {
				t.Errorf("%s sends no %s", command, pointer)
			}
		}
	}
	for pointer, want := range map[string]string{
		"/title": "--title", "/files/1/size": "b.txt", "/files": "the files", "/paperUrl": "--paper", "/country": "country",
		"/registration/team": "--team", "/acceptedTerms": "--accept-terms", "": "",
	} {
		if got := wordsOf("submit").place(pointer); got != want {
			t.Errorf("%s is %q, want %q", pointer, got, want)
		}
	}
}

// TestWords_NameEveryOperation says each operation that texts name, and finds its command and flags.
func TestWords_NameEveryOperation(t *testing.T) {
	root := new(program).root()
	known := map[string]bool{}
	check := func(name string, p problem.Part) {
		known[name] = true
		text := wordsOf("submit").operation(p)
		wantWords(t, name, text)
		if text == "" {
			t.Errorf("%s has no words", name)
		}
		given, isCommand := strings.CutPrefix(text, "assay ")
		if !isCommand {
			return
		}
		args := strings.Fields(strings.ReplaceAll(given, `'Lake search'`, "TASK"))
		command, rest, err := root.Find(args)
		if err != nil || command == root || command.ParseFlags(rest) != nil || command.ValidateArgs(command.Flags().Args()) != nil {
			t.Errorf("%s: there is no command %q", name, text)
		}
	}
	for _, o := range problem.Operations {
		check(o.ID, o.With(someTask, someTask, someTask))
	}
	check("updateRegistration with state", problem.UpdateRegistration.With(someTask, someTask).Setting("state", "accepted"))
	check("updateRegistration with acceptedTerms", problem.UpdateRegistration.With(someTask, someTask).Setting("acceptedTerms", 2))
	for name := range commandOf {
		if !known[name] {
			t.Errorf("no text names the operation %s", name)
		}
	}
}

// neverSaid are the beginnings of answers to requests that no command sends.
var neverSaid = []string{"The development issuer has nothing here", "A file can be read with GET", "A merge patch of a resource"}

// TestWords_SayEveryText says the sentences of all problems of the module in each command.
func TestWords_SayEveryText(t *testing.T) {
	texts := 0
	for _, format := range formats(t) {
		texts++
		if slices.ContainsFunc(neverSaid, func(text string) bool { return strings.HasPrefix(format, text) }) {
			continue
		}
		for _, command := range []string{"submit", "review", "tokens create", "tasks"} {
			wantWords(t, command, wordsOf(command).text(problem.Sentence(format, []any{}...)))
		}
	}
	if texts < 300 {
		t.Errorf("found only %d texts", texts)
	}
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, kind := range problem.Kinds {
		e := kind.New("{/files/0/size} of {?filter[taskId]} is %s at %s for %s: %s.", problem.Size(3<<20), at,
			problem.Resource("task", someTask).Named("Lake search"), problem.UpdateRegistration.With(someTask)).With(
			problem.NewField("/perDay", "must be above {submissions.total}"), problem.NewField("", "is no text"))
		wantWords(t, kind.Slug, wordsOf("submit").problem(&client.Problem{Document: e.Document("/v1", "")}))
	}
	want := `Lakes=a.txt of task id is 3 MiB at ` + at.Local().Format("2006-01-02 15:04 MST") +
		` for "Lake search": assay join 'Lake search' --accept-terms.`
	got := wordsOf("submit").text(problem.Sentence("{/files/0/size} of {?filter[taskId]} is %s at %s for %s: %s.", problem.Size(3<<20), at,
		problem.Resource("task", someTask).Named("Lake search"), problem.UpdateRegistration.With(someTask).Setting("acceptedTerms", 2)))
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestWords_KnowWholeTexts has texts that commands say in other words, and texts that begin like them.
func TestWords_KnowWholeTexts(t *testing.T) {
	for text, want := range map[string]string{
		problem.Nothing:      "There is nothing with this id, or nothing that you may see.",
		problem.NothingNamed: "You named something that does not exist, or that you may not see.",
		"There is nothing here, or nothing that you may see. Restore the task from the trash.": "There is nothing here, or nothing that you " +
			"may see. Restore the task from the trash.",
		"is too short: the least number of characters is 1":  "must not be empty",
		"is too short: the least number of characters is 12": "is too short: the least number of characters is 12",
	} {
		if got := wordsOf("submit").text(problem.Text{Detail: text}); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// makers are the functions that make texts of problems from formats.
var makers = regexp.MustCompile(`^(New|Wrap|Sentence|NewField|InvalidMember|Add|AddIf)$`)

var verbs = regexp.MustCompile(`%(\[\d+\])?[-+# 0-9.]*[a-z]`)

// formats returns the formats of all texts of problems, without the places of their arguments.
func formats(t *testing.T) (found []string) {
	t.Helper()
	root := programtest.Root(t)
	for _, folder := range []string{"functions", "grpc", "shared"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || entry.IsDir() && entry.Name() == "node_modules":
				return cmpSkip(err)
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			content, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(content), "assay/shared/language/problem") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					found = append(found, formatsOf(call)...)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// cmpSkip returns the error of a walk or, without one, the order to skip the folder.
func cmpSkip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// formatsOf returns the constant texts with blanks among the arguments of a call that makes a text of a problem.
func formatsOf(call *ast.CallExpr) (found []string) {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !makers.MatchString(function.Sel.Name) {
		return nil
	}
	for _, arg := range call.Args {
		text, constant := literal(arg)
		if constant && strings.Contains(text, " ") {
			found = append(found, verbs.ReplaceAllString(text, "x"))
		}
	}
	return found
}

// literal returns the text of literals that are joined by +.
func literal(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, too := literal(e.Y)
		return left + right, ok && too
	}
	return "", false
}

// speakers are the functions whose texts people read in a terminal.
var speakers = regexp.MustCompile(`^(note|say|Errorf|New)$`)

// typed matches the words of a value that people type, such as label=TEXT.
var typed = regexp.MustCompile(`\b\w+=`)

// TestWords_OfHelpAreOfTheTerminal checks the help of all commands and flags.
func TestWords_OfHelpAreOfTheTerminal(t *testing.T) {
	texts := 0
	walk(new(program).root(), func(_ string, c *cobra.Command) {
		for _, text := range []string{c.Short, c.Long} {
			texts++
			wantWords(t, c.CommandPath(), typed.ReplaceAllString(text, ""))
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			texts++
			_, usage := pflag.UnquoteUsage(f) // without the marks around the name of the value
			wantWords(t, c.CommandPath()+" --"+f.Name, typed.ReplaceAllString(usage, ""))
		})
	})
	if texts < 150 {
		t.Errorf("found only %d texts", texts)
	}
}

// TestWords_OfCommandsAreOfTheTerminal checks the sentences that the commands say themselves: refusals, notes and errors.
func TestWords_OfCommandsAreOfTheTerminal(t *testing.T) {
	sentences := 0
	check := func(name string, args []ast.Expr) {
		for _, arg := range args {
			ast.Inspect(arg, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && strings.Contains(unquoted(l), " ") {
					sentences++
					wantWords(t, name, unquoted(l))
				}
				return true
			})
		}
	}
	files := sources(t)
	maps.Copy(files, sourcesIn(t, "client"))
	maps.Copy(files, sourcesIn(t, "offline"))
	for name, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if of, ok := n.Type.(*ast.Ident); ok && of.Name == "refusal" {
					check(name, n.Elts)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && speakers.MatchString(f.Sel.Name) {
					check(name, n.Args)
				}
			}
			return true
		})
	}
	if sentences < 60 {
		t.Errorf("found only %d sentences", sentences)
	}
}

// TestWords_SayFlagsWithoutAServer gives wrong flags to commands that evaluate, check and fuse files.
func TestWords_SayFlagsWithoutAServer(t *testing.T) {
	p := local(t)
	labels := p.write("labels.csv", "id,label\n1,a\n")
	run := p.write("run.txt", goodRun)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"assay: --separator: is only for csv of multilabel: leave it out\n",
			[]string{"validate", labels, "--format", "csv", "--kind", "classification", "--separator", ";"}},
		{"assay: --value: must be another field than --id\n",
			[]string{"validate", labels, "--format", "csv", "--kind", "classification", "--id", "label"}},
		{`assay: --format: "trec-run" does not go with text`, []string{"validate", run, "--format", "trec-run", "--kind", "text"}},
		{`There is no kind "clasification". Did you mean "classification"?`, []string{"validate", labels, "--kind", "clasification"}},
		{`There is no format "cvs". Did you mean "csv"?`, []string{"eval", labels, labels, "--format", "cvs"}},
		{`There is no method "rff". Did you mean "rrf"?`, []string{"fuse", run, run, "--method", "rff"}},
		{"There is no format \"json\". Did you mean \"jsonl\"?\nTry: --to with one of csv, jsonl\n",
			[]string{"convert", labels, "--kind", "classification", "--to", "json"}},
		{"There is no format \"cvs\". Did you mean \"csv\"?\nTry: --from with one of trec-run, jsonl, csv, msmarco, json\n",
			[]string{"convert", run, "--from", "cvs"}},
		{"There is no kind \"x\".\nTry: --kind with one of classification, multilabel, probabilities, regression, clustering, text\n",
			[]string{"convert", labels, "--kind", "x"}},
		{"assay: assay man needs FOLDER\n", []string{"man"}},
		{"assay: --k: must be 1 or more\n", []string{"fuse", run, run, "--k", "-1"}},
	} {
		p.says(failed, []string{c.want}, c.args...)
	}
}
