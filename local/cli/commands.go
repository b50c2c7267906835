package main

import (
	"strings"

	"assay/local/cli/client"
	"assay/shared/computation/measure"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const about = `assay takes part in the shared tasks of a server of Assay and runs them, and evaluates,
checks, converts and fuses runs without one.

Two commands lead from nothing to a score:

  assay login https://assay.example.org
  assay submit "Lake search" run.txt --wait

` + exitHelp

const taskHelp = "The task is named by its URL, its id, its name, or a part of it."

const submitHelp = taskHelp + ` Registers for it
first, where that is open. Files are checked with the server's code before a byte is sent. A task
with several datasets needs to know which a file is for: DATASET=FILE. After an interruption,
repeat the command: it continues, and counts nothing that your team has submitted before. With
--again, and for a complete baseline, it makes a new submission. ` + stdinHelp

const evalHelp = `Arguments after the files are measures: nDCG@10, AP(rel=2), 'F1(average=macro)'. Several runs are compared
with the first one by the measure that is named first: by the randomization test over topics or
examples, with Holm's correction. With --trec, names, flags and output are those of trec_eval 10, whose
measures it has but for a few. ` + stdinHelp

const stdinHelp = "A hyphen (-) in the place of a file is standard input."

const downloadHelp = taskHelp + ` Each dataset
has a folder of its name, with a folder truths if its ground truth is public. Digests are checked,
and interrupted downloads continue where they ended.`

const registrationsHelp = taskHelp + ` Only
organizers see all teams. Others see their own.`

const inviteHelp = taskHelp + ` The owner of a
team and the organizers of the task invite into the team. If the task takes teams only by
invitation, only its organizers do.`

const announceHelp = taskHelp + ` The text is
Markdown, from a file or from standard input. If the server sends e-mails, members of accepted teams
get it by e-mail, unless they chose otherwise.`

const finalHelp = `The command "assay datasets" says how many final runs of each team a dataset takes. A team marks its
runs until the dataset closes for it. Organizers of the task mark runs of all teams, also after the
close.`

const reviewHelp = taskHelp + ` A filter leaves out
runs of rejected teams that the command would publish or unblind, unless it names the team by
registrationIds=ID. All other changes concern these runs too.

Semicolons separate the values of a filter, and commas its conditions, all of which must hold:
--filter "states=completed;failed,userIds=ID". Runs that are named by their ids need no --dataset.`

const convertHelp = `Runs are trec-run, jsonl or csv; relevance judgments trec-qrels, jsonl, csv or beir. Only read are
msmarco (columns without names: topic, document and rank, score or both, or the grade) and json (the
dictionaries of pytrec_eval and ranx, a list of documents for each topic, or an array of objects). Fields of jsonl, csv and json may have
the names of other programs, such as qid, docno and relevance, and csv may be separated by commas,
tabs or semicolons. With --kind, files have a label, number, text or list for each id, as csv, jsonl
or json (an array of objects, or an object with the value of each id). ` + stdinHelp

const exportHelp = `Saves the task, its datasets, announcements, submissions, runs, evaluations and files of runs. If you
are signed in, also registrations with exceptions, and reviews: organizers get all of them, and
others those of their teams. Each list is saved as JSON Lines, in the form of the API, and as CSV.
Ground truths, inputs, logs, audit entries, invitations and webhooks are not saved.

All lists are read first and written last. After an interruption, repeat the command: files that
exist already are not fetched again.

The file export.json in the folder names the files of the export. The next export of the task into
the folder removes those of them that it does not write, such as lists that you may not see then,
and files of deleted runs. Other files in the folder stay, and the command names them.`

const tokensHelp = "The last column has the day, in UTC, on which a token last changed something. Reading does not count."

const loginHelp = `Signs in with a browser on this machine, with --device on another one, or with an access token from
standard input. Sign-ins are kept in a file that only you can read. Without a home folder, as in CI,
use ASSAY_URL and ASSAY_TOKEN instead.`

// groups lists all commands in the order of the help.
var groups = []struct {
	title    string
	commands []command
}{
	{"Taking part:", []command{
		{use: "tasks [NAME]", short: "List tasks, or those with a part of a name", args: cobra.MaximumNArgs(1), run: online(listTasks)},
		{use: "datasets TASK", short: "List the datasets of a task", more: taskHelp, args: cobra.ExactArgs(1), run: inTask(listDatasets)},
		{use: "download TASK", short: "Download the inputs of the datasets of a task, and public truths", args: cobra.ExactArgs(1),
			run: inTask(download), more: downloadHelp,
			flags: func(f *pflag.FlagSet) {
				f.String("dataset", "", "only one dataset, by name or id")
				f.StringP("output", "o", ".", "folder to save into")
			}},
		{use: "join TASK|INVITATION", short: "Take part in a task, or accept an invitation", args: cobra.ExactArgs(1), run: join,
			flags:   teamFlags,
			more:    taskHelp + " An invitation is its link or its secret.",
			example: "  assay join \"Lake search\" --team Otters\n  assay join https://assay.example.org/console#assay-invitation_..."},
		{use: "invite TASK", short: "Make a link that invites into your team, and print it once", args: cobra.ExactArgs(1), run: inTask(invite),
			more: inviteHelp,
			flags: func(f *pflag.FlagSet) {
				f.String("email", "", "also send the link to this address")
				f.Int("uses", 1, "how many users can join by the link")
				f.String("team", "", "as an organizer: invite into this team, by its name or the id of its registration")
				f.Bool("to-task", false, "as an organizer: invite into the task, not into a team")
			}},
		{use: "submit TASK [[DATASET=]FILE]...", short: "Submit runs, an image or a repository, and with --wait see the scores",
			more: submitHelp,
			example: "  assay submit \"Lake search\" run.txt --wait\n" +
				"  assay submit \"Lake search\" Lakes=a.txt Rivers=b.txt --team Otters --title BM25\n" +
				"  assay submit \"Lake search\" --image ghcr.io/otters/search:1 --command '/run $inputDir $outputDir'",
			args: cobra.MinimumNArgs(1), run: inTask(submit), flags: submitFlags},
		{use: "runs [RUN]...", short: "List the runs of your teams, or show some with their scores", run: showRuns,
			more: "Without RUN, it lists runs and does not wait: --wait needs the ids of runs.",
			flags: func(f *pflag.FlagSet) {
				f.String("task", "", "without RUN: of one task, for organizers those of all teams: its URL, id, name, or a part of it")
				waitFlags(f)
			}},
		{use: "logs RUN", short: "Print what executing a run wrote", args: cobra.ExactArgs(1), run: online(showLogs),
			flags: func(f *pflag.FlagSet) {
				f.BoolP("follow", "f", false, "go on until the run has ended")
				f.Bool("evaluation", false, "as an organizer: the log of the task's own evaluator")
			}},
		{use: "cancel RUN...", short: "Cancel runs that have not ended", args: cobra.MinimumNArgs(1),
			run: online(func(c *call) { c.change(client.Path("runs"), c.args, map[string]any{"state": "cancelled"}, "") })},
		{use: "final RUN...", short: "Mark runs as those of their team that count", args: cobra.MinimumNArgs(1), more: finalHelp,
			run: online(func(c *call) {
				c.change(client.Path("runs"), c.args, map[string]any{"final": !c.yes("undo")}, "|FINAL final")
			}),
			flags: func(f *pflag.FlagSet) { f.Bool("undo", false, "take the mark away") }},
		{use: "leaderboard TASK", short: "Show the leaderboard of a dataset", more: taskHelp, args: cobra.ExactArgs(1), run: inTask(leaderboard),
			flags: func(f *pflag.FlagSet) {
				f.String("dataset", "", "the dataset, by name or id, of a task with several")
				f.String("measure", "", "measure to sort by, instead of the primary one")
				f.Bool("best", false, "only the best run of each team, and all baselines without a team")
				f.Bool("final", false, "only the final runs of each team: those it marked or, if none of these has a result, the last that you see; "+
					"and all baselines without a team")
				f.Bool("public", false, "when you are signed in: only what everyone sees")
				f.Int("limit", 50, "how many entries at most, up to 200")
			}},
		{use: "compare RUN RUN...", short: "Test whether runs differ, over topics or examples", args: cobra.MinimumNArgs(2), run: online(compare),
			flags: func(f *pflag.FlagSet) {
				f.String("measure", "", "measure with values by topic, instead of the primary one")
			}},
	}},
	{"Organizing:", []command{
		{use: "apply FILE", short: "Create or change a task as a YAML or JSON file describes it", args: oneFile, run: applyFile,
			more:    "With its ground truths and inputs. Anything that the file does not name stays unchanged, and nothing is deleted.",
			example: "  assay apply task.yaml --dry-run\n  assay apply task.yaml",
			flags: func(f *pflag.FlagSet) {
				f.Bool("dry-run", false, "say what would change and what would follow, and change nothing")
				f.Bool("new-organizer", false, "make the organizer of the file even if others have one with its name")
				f.Bool("schema", false, "print the JSON Schema of the file")
			}},
		{use: "registrations TASK", short: "List the teams of a task and whether they are accepted", more: registrationsHelp,
			args: cobra.ExactArgs(1), run: inTask(listRegistrations),
			flags: func(f *pflag.FlagSet) { f.String("state", "", "those in one state: pending, accepted or rejected") }, commands: []command{
				{use: "accept TASK TEAM...", short: "Accept teams, by their names or the ids of their registrations",
					args: cobra.MinimumNArgs(2), run: decide("accepted")},
				{use: "reject TASK TEAM...", short: "Reject teams, by their names or the ids of their registrations",
					args: cobra.MinimumNArgs(2), run: decide("rejected")},
			}},
		{use: "review TASK [RUN]...", short: "Publish, unpublish, blind or unblind runs, by their ids or by a filter",
			args: cobra.MinimumNArgs(1), more: reviewHelp,
			example: "  assay review \"Lake search\" --dataset Lakes --unblind --publish --filter states=completed\n" +
				"  assay review \"Lake search\" 01J... --unpublish --comment 'Wrong collection.'",
			run: inTask(review), flags: func(f *pflag.FlagSet) {
				f.Bool("publish", false, "show their scores to everyone who sees the task, unless they are blinded or wait for the close")
				f.Bool("unpublish", false, "hide their scores from everyone but their teams and the organizers")
				f.Bool("blind", false, "show their scores only to organizers")
				f.Bool("unblind", false, "show their scores to their teams, unless they wait for the close")
				f.String("comment", "", "a text for the teams; an empty one removes it")
				f.String("dataset", "", "with --filter: the dataset, by name or id, of a task with several; a RUN names its own")
				f.StringSlice("filter", nil, "instead of ids: states=STATE, label=TEXT, registrationIds=ID or userIds=ID; see above for several")
			}},
		{use: "announce TASK [FILE]", short: "Announce something on the page of a task and by e-mail",
			args: cobra.RangeArgs(1, 2), run: inTask(announce),
			more:    announceHelp,
			example: "  echo 'The test data is there.' | assay announce \"Lake search\" --title 'Test data'",
			flags:   func(f *pflag.FlagSet) { f.String("title", "", "title of the announcement") }},
		{use: "export TASK", short: "Save the lists of a task and the files of its runs, as far as you may see them",
			args: cobra.ExactArgs(1), run: inTask(export), more: exportHelp,
			flags: func(f *pflag.FlagSet) {
				f.StringP("output", "o", "", "folder to save into; unless given, named after the task")
				f.Bool("files", true, "with the files of runs")
			}},
	}},
	{"Without a server:", []command{
		{use: "eval TRUTH RUN... [MEASURE]...", short: "Evaluate runs against a ground truth, with the server's code",
			args: cobra.MinimumNArgs(2), run: eval,
			more: evalHelp,
			example: "  assay eval qrels.txt run.txt nDCG@10 AP\n  assay eval qrels.txt a.txt b.txt c.txt nDCG@10\n" +
				"  assay eval --trec -q qrels.txt run.txt -m map -m ndcg_cut.10\n  assay eval truth.jsonl predictions.jsonl 'F1(average=macro)'",
			flags: func(f *pflag.FlagSet) {
				formatFlags(f)
				f.Bool("trec", false, "understand and print what trec_eval does")
				f.BoolP("per-topic", "q", false, "also the values of each topic")
				f.BoolP("complete", "c", false, "with --trec: topics that the run lacks count as 0, as they always do without --trec")
				f.IntP("level", "l", 1, "with --trec: least grade that counts as relevant")
				f.BoolP("judged", "J", false, "with --trec: leave documents out that were not judged")
				f.BoolP("no-summary", "n", false, "with --trec: no values of all topics")
				f.StringArrayP("measure", "m", nil, "a measure; with --trec by its name in trec_eval")
			}},
		{use: "validate FILE...", short: "Say what is wrong with runs, line by line", args: cobra.MinimumNArgs(1), run: validate,
			more: stdinHelp, flags: formatFlags},
		{use: "convert FILE...", short: "Convert runs and relevance judgments between formats",
			more:    convertHelp,
			example: "  assay convert run.csv -o run.txt\n  assay convert qrels.tsv --qrels --from beir --to trec-qrels -o qrels.txt",
			args:    cobra.MinimumNArgs(1), run: convert, flags: func(f *pflag.FlagSet) {
				f.String("from", "", "format of the files; guessed by the first file unless given")
				f.String("to", "", "format to write; unless given, the format of TREC, or jsonl for files in that format")
				f.Bool("qrels", false, "the files are relevance judgments")
				f.String("kind", "", "convert values for one of "+strings.Join(valueKinds, ", "))
				f.String("id", "", "with --kind: field of the id in the files; guessed unless given")
				f.String("value", "", "with --kind: field of the value in the files; guessed unless given")
				f.String("to-id", "", "with --kind: name of the field of the id to write; id unless given")
				f.String("to-value", "", "with --kind: name of the field of the value to write; the usual one unless given")
				f.StringP("output", "o", "", "file to write, instead of standard output")
			}},
		{use: "fuse RUN RUN...", short: "Make one run of several", args: cobra.MinimumNArgs(2), run: fuse, flags: func(f *pflag.FlagSet) {
			f.String("method", "rrf", "rrf, combsum or combmnz")
			f.Int("k", 60, "with --method rrf: its constant, 1 or more")
			f.String("normalization", "min-max", "with --method combsum or combmnz: min-max, sum, z-score, rank or none")
			f.Int("depth", 0, "documents of each topic to write; 0: all")
			f.String("tag", "fused", "name of the fused run")
			f.StringP("output", "o", "", "file to write, instead of standard output")
		}},
	}},
	{"Settings:", []command{
		{use: "login [URL]", short: "Sign in to a server", args: cobra.MaximumNArgs(1), run: signIn,
			more:    loginHelp,
			example: "  assay login https://assay.example.org\n  assay login https://assay.example.org --with-token < token.txt",
			flags: func(f *pflag.FlagSet) {
				f.Bool("with-token", false, "read an access token from standard input")
				f.Bool("device", false, "sign in on another device")
				f.Int("port", 0, "port of this machine that the browser returns to, where the issuer knows only one; 0: any; not with --device")
				f.String("user", "", "at a development server: who to be; unless given, the name of this machine's user")
				f.Bool("admin", false, "at a development server: be an administrator")
			}},
		{use: "logout [URL]", short: "Forget the sign-in at a server", args: cobra.MaximumNArgs(1), run: signOut},
		{use: "tokens", short: "List your access tokens", more: tokensHelp, args: cobra.NoArgs, run: online(func(c *call) {
			c.list(client.Path("user", "tokens"), "You have no access token. Make one with: assay tokens create NAME",
				"ID id|NAME name|SCOPES scopes|EXPIRES expiresAt|LAST CHANGE ON lastUsedOn")
		}), commands: []command{
			{use: "create NAME", short: "Make an access token, and print its secret once", args: cobra.ExactArgs(1), run: online(makeToken),
				flags: func(f *pflag.FlagSet) {
					f.StringSlice("scopes", []string{"submit"}, "its permissions: read, submit, organize, or work with --pools")
					f.StringSlice("pools", nil, "with the scope work: pools of workers, as ORGANIZER/NAME; administrators may leave it out")
					f.Int("days", 90, "for how many days it is accepted: 1 to 365")
				}},
			{use: "delete ID", short: "Delete an access token, which the server refuses within 10 seconds", args: cobra.ExactArgs(1),
				run: online(deleteToken)},
		}},
		{use: "version", short: "Print the version", args: cobra.NoArgs, run: showVersion},
	}},
}

func teamFlags(f *pflag.FlagSet) {
	f.String("team", "", "name of your team; unless given, your own name")
	f.String("affiliation", "", "affiliation of your team")
	f.String("contact", "", "how organizers reach your team")
	f.Bool("anonymous", false, "show others than the organizers an alias, and neither titles, descriptions nor papers")
	f.Bool("accept-terms", false, "accept the terms of the task")
}

func waitFlags(f *pflag.FlagSet) {
	f.Bool("wait", false, "wait until the runs that were submitted or named have ended, and print scores")
	f.Duration("timeout", 0, "with --wait: how long at most, such as 10m; exit code 5 after it")
}

func submitFlags(f *pflag.FlagSet) {
	teamFlags(f)
	waitFlags(f)
	f.String("dataset", "", "dataset of the files, or for an image or a repository to run on, by name or id")
	f.String("title", "", "title of the submission")
	f.String("description", "", "description in Markdown")
	f.String("notes", "", "notes that only your team sees, or those of a baseline its organizers")
	f.String("paper", "", "URL of a paper about it")
	f.String("image", "", "a container image to run, instead of files")
	f.String("repository", "", "https URL of a repository to build and run, instead of files")
	f.String("ref", "", "with --repository: its commit, tag or branch")
	f.String("command", "", "with --image or --repository: command to run in it")
	f.Bool("public", false, "let all who see the task see the submission, but no texts of an anonymous team; baselines are public without it")
	f.Bool("baseline", false, "as an organizer: a baseline, which needs no registration")
	f.Bool("again", false, "submit even if your team has submitted the same before; it counts again")
}

func formatFlags(f *pflag.FlagSet) {
	f.String("kind", "", "one of "+strings.Join(measure.Kinds(), ", ")+"; guessed by the file unless given")
	f.String("format", "", strings.Join(measure.Formats(), ", ")+"; guessed by the file unless given")
	f.String("id", "", "with --format jsonl or csv: field of the id; guessed by the file unless given")
	f.String("value", "", "with --format jsonl or csv: field of the label or value; guessed by the file unless given")
	f.String("separator", "", "with --kind multilabel: what separates labels in csv; a vertical bar unless given")
}
