package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"

	"github.com/agnivade/levenshtein"
)

// Maps of flags to the members of request bodies that they set. fill reads them, and inputs has their reverse.
var (
	settable = map[string]string{"title": "title", "description": "description", "notes": "notes", "paper": "paperUrl", "image": "image",
		"repository": "url", "ref": "ref", "command": "command"} // of a submission
	teamMembers = map[string]string{"team": "team", "affiliation": "affiliation", "contact": "contact", "anonymous": "anonymous"}
)

// inputs maps JSON Pointers into the requests of a command, and query parameters, to what people write on the command line: a flag or an
// argument. * stands for any index. $1 is the argument at index 1, and $1+ is the argument that many places after the index of the pointer.
var inputs = map[string]map[string]string{
	"join": flagsFor(teamMembers, map[string]string{"/acceptedTerms": "--accept-terms", "/secret": invitation}),
	"submit": flagsFor(settable, flagsFor(teamMembers, map[string]string{"/acceptedTerms": "--accept-terms", "/visibility": "--public",
		"/baseline": "--baseline", "/again": "--again", "/datasetIds": "--dataset", "/files": "the files", "/files/*": "$1+",
		"/datasetId": "DATASET=", "/type": "--image, --repository or a file"})),
	"invite":        {"/email": "--email", "/uses": "--uses"},
	"registrations": {"?filter[state]": "--state"},
	"leaderboard": {"/measure": "--measure", "/best": "--best", "/final": "--final", "/limit": "--limit", "/view": "--public",
		"/datasetId": "--dataset"},
	"compare": {"/measure": "--measure", "/runs/*": "$0+", "/runs": "the runs"},
	"review": {"/review": "the change", "/review/published": "--publish", "/review/blinded": "--blind", "/review/comment": "--comment",
		"/runIds": "the runs", "/runIds/*": "$1+", "/filter": "--filter", "/filter/states": "--filter states", "/filter/label": "--filter label"},
	"announce": {"/title": "--title", "/body": "the text"},
	"tasks":    {"?filter[name]": "NAME"},
	"tokens create": {"/name": "NAME", "/scopes": "--scopes", "/scopes/*": "--scopes", "/expiresAt": "--days", "/pools": "--pools",
		"/pools/*": "--pools"},
	"eval": settingFlags, "validate": settingFlags,
	"fuse":  {"/method": "--method", "/k": "--k", "/depth": "--depth", "/normalization": "--normalization", "/tag": "--tag"},
	"login": {"/user": "--user", "/groups": "--admin"},
}

// settingFlags are the flags for members of a dataset that say how files are read.
var settingFlags = map[string]string{"/runFormat/kind": "--format", "/runFormat/idField": "--id", "/idField": "--id",
	"/runFormat/valueField": "--value", "/valueField": "--value", "/runFormat/separator": "--separator", "/evaluator/kind": "--kind"}

// flagsFor returns the pointers of the members that flags set, with more entries of a table.
func flagsFor(members, more map[string]string) map[string]string {
	all := map[string]string{}
	for flag, member := range members {
		all["/"+member] = "--" + flag
	}
	for pointer, words := range more {
		all[pointer] = words
	}
	return all
}

// The pages of the console stand for operations without a command.
const inConsole = " in the console ({server}/console)"

// commandOf maps operations that texts name to a command, or to the place where people do it. {taskId} is the task as the user names it,
// {server} is the server's URL, and names of other parameters stand for their values.
var commandOf = map[string]string{ //nolint:gosec // names of operations, not secrets
	"createOrganizerInvitation":             "the organizer's members" + inConsole,
	"createRegistration":                    "assay join {taskId}",
	"createTaskInvitation":                  "assay invite {taskId} --to-task",
	"createTeamInvitation":                  "assay invite {taskId}",
	"createToken":                           "assay tokens create NAME",
	"deleteCurrentUser":                     "your account" + inConsole,
	"deleteMember":                          "the organizer's members" + inConsole,
	"deleteOrganizerInvitation":             "the organizer's invitations" + inConsole,
	"deleteRegistration":                    "your team" + inConsole,
	"deleteTask":                            "the task" + inConsole,
	"deleteTaskInvitation":                  "the task's invitations" + inConsole,
	"deleteTeamInvitation":                  "the team's invitations" + inConsole,
	"deleteTeamMember":                      "your team" + inConsole,
	"deleteToken":                           "assay tokens delete ID",
	"getCurrentUser":                        "your account" + inConsole,
	"getIndex":                              "{server}",
	"getInfo":                               "{server}/info",
	"getOpenapiJson":                        "{server}/docs",
	"getTask":                               "the task",
	"getVersionIndex":                       "{server}/docs",
	"listComponents":                        "the catalogue" + inConsole,
	"undoDeletion":                          "the trash" + inConsole,
	"updateCurrentUser":                     "your account" + inConsole,
	"updateOrganizerWebhook":                "the organizer's webhooks" + inConsole,
	"updateRegistration":                    "your team" + inConsole,
	"updateRegistration with acceptedTerms": "assay join {taskId} --accept-terms",
	"updateRegistration with state":         "assay registrations accept {taskId} TEAM",
	"updateRun":                             "assay final RUN --undo",
	"updateTaskWebhook":                     "the task's webhooks" + inConsole,
}

// words says texts of the API in the language of one invocation of a command: flags instead of members, commands instead of requests, and
// the local time. For apply, members stay, because people write them in the file.
type words struct {
	command string // without assay, such as tokens create
	args    []string
	server  string
	taskID  string // the task that the user named as task
	task    string
	file    *declared // the file of apply; otherwise nil
}

// problem returns a problem in words: its sentence, and a line for each fault of the input.
func (w *words) problem(p *client.Problem) string {
	var lines []string
	switch {
	case p.Type == problem.Unauthorized.Type():
		return "You are not signed in to " + w.server + "."
	case p.Type == problem.TooManyRequests.Type():
		return "The server takes no more requests of this kind from one user at present. Wait a minute."
	case len(p.Errors) == 0 || p.Type != problem.Invalid.Type():
		lines = append(lines, w.text(p.Text))
	case len(p.Errors) >= problem.MaxFields:
		lines = append(lines, "There are "+plural.Count(problem.Faults(p.Errors), "fault")+" or more. These are the first:")
	case len(p.Errors) > 1:
		lines = append(lines, "There are "+plural.Count(problem.Faults(p.Errors), "fault")+":")
	}
	return strings.Join(append(lines, w.faults(p.Errors)...), "\n")
}

// faults returns a line for each fault of the input.
func (w *words) faults(of []problem.Field) []string {
	return lists.Map(of, func(f problem.Field) string {
		text := w.text(f.Text)
		return client.OneLine(fault(w.place(f.Pointer), text))
	})
}

// invitation stands for the secret of an invitation. The faults of a secret are predicates, so they follow it without a colon.
const invitation = "the invitation"

// fault returns the text of a fault after its place. The place is empty for the whole request.
func fault(place, text string) string {
	switch place {
	case "":
		return text
	case invitation:
		return "The invitation " + text
	}
	return place + ": " + text
}

// text returns a text of the API in words.
func (w *words) text(t problem.Text) string {
	if t.Detail == problem.Nothing {
		return "There is nothing with this id, or nothing that you may see."
	}
	if t.Detail == problem.NothingNamed {
		return "You named something that does not exist, or that you may not see."
	}
	if t.Parts == nil {
		return plain(t.Detail)
	}
	var b strings.Builder
	for _, p := range t.Parts {
		b.WriteString(w.part(p))
	}
	return client.OneLine(b.String())
}

// tooShort is the fault of an empty text.
const tooShort = "is too short: the least number of characters is 1"

// plain returns a text without the marks around code, and without advice for merge patches.
func plain(text string) string {
	if text == tooShort {
		return "must not be empty"
	}
	return strings.NewReplacer("`", "", problem.Unset, "leave it out").Replace(text)
}

func (w *words) part(p problem.Part) string {
	switch p.Type {
	case problem.InstantPart:
		if at, ok := client.LocalTime(p.Value); ok {
			return at
		}
	case problem.SizePart:
		if p.Bytes != nil {
			return sizeInWords(*p.Bytes)
		}
	case problem.MemberPart:
		return w.member(p.Value)
	case problem.ParameterPart:
		return w.member("?" + p.Value)
	case problem.OperationPart:
		return w.operation(p)
	case problem.ResourcePart:
		if p.Name != "" {
			return strconv.Quote(p.Name)
		}
		return p.ID
	case problem.PlainText, problem.ChoicePart:
		return plain(p.Value)
	}
	return p.Value
}

// indexes are the numbers in a JSON Pointer.
var indexes = regexp.MustCompile(`/\d+`)

// place returns what people write for the member at a pointer into a request. It is empty for the whole request.
func (w *words) place(pointer string) string {
	if w.file != nil {
		return w.file.place(pointer)
	}
	return w.member(pointer)
}

// member returns what people write for a member of a request, a JSON Pointer to it, or a query parameter after a question mark.
func (w *words) member(name string) string {
	if w.file != nil || name == "" {
		return dotted(name)
	}
	pointer := name
	if name[0] != '/' && name[0] != '?' {
		pointer = "/" + name
	}
	pointer = strings.TrimPrefix(pointer, "/registration") // of an invitation to a task
	table := inputs[w.command]
	for at := pointer; at != ""; at = at[:max(strings.LastIndexByte(at, '/'), 0)] {
		if said := table[indexes.ReplaceAllString(at, "/*")]; said != "" {
			return w.input(said, at)
		}
	}
	return separate(name)
}

// input returns an entry of inputs for a pointer, with the arguments that the user wrote.
func (w *words) input(said, pointer string) string {
	first, counted := strings.CutSuffix(strings.TrimPrefix(said, "$"), "+")
	n, err := strconv.Atoi(first)
	if err != nil || said[0] != '$' {
		return said
	}
	if counted {
		i, _ := strconv.Atoi(pointer[strings.LastIndexByte(pointer, '/')+1:])
		n += i
	}
	if n < len(w.args) {
		return w.args[n]
	}
	return "the argument"
}

// capitals begin the words of a name in camel case.
var capitals = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// separate returns the words of the last member of a pointer, or of a name: closes at for closesAt.
func separate(name string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "?"), "filter["), "]")
	name = indexes.ReplaceAllString(name, "")
	name = name[strings.LastIndexAny(name, "/.")+1:]
	return strings.ToLower(capitals.ReplaceAllString(name, "$1 $2"))
}

// dotted returns a pointer in the notation of a path in YAML: datasets[0].name. Names without a slash remain unchanged.
func dotted(pointer string) string {
	tokens, ok := problem.PointerTokens(pointer)
	if !ok {
		return pointer
	}
	var b strings.Builder
	for _, token := range tokens {
		if _, err := strconv.Atoi(token); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}

var parameterInBraces = regexp.MustCompile(`\{\w+\}`)

// operation returns the command for an operation of the API.
func (w *words) operation(p problem.Part) string {
	said := commandOf[p.Operation]
	for _, member := range []string{"acceptedTerms", "state"} {
		if strings.Contains(p.Body, `"`+member+`"`) {
			said = commandOf[p.Operation+" with "+member]
		}
	}
	return parameterInBraces.ReplaceAllStringFunc(said, func(braces string) string {
		name := strings.Trim(braces, "{}")
		switch value := p.Parameters[name]; {
		case name == "server":
			return w.server
		case name == "taskId" && w.task != "" && value == w.taskID:
			return offline.Quoted(w.task)
		case value != "":
			return value
		}
		return strings.ToUpper(strings.TrimSuffix(name, "Id"))
	})
}

// sizeInWords returns a number of bytes in the largest unit that keeps it exact. Other numbers above a MiB have both.
func sizeInWords(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		size := int64(1) << (30 - 10*i)
		switch {
		case n >= size && n%size == 0:
			return fmt.Sprintf("%d %s", n/size, unit)
		case n >= size && unit != "KiB":
			return fmt.Sprintf("%.1f %s (%s)", float64(n)/float64(size), unit, plural.Count(n, "byte"))
		}
	}
	return plural.Count(n, "byte")
}

// choice returns the text of a flag, which must be empty or one of the known names.
func (c *call) choice(flag string, known []string) string {
	given := c.text(flag)
	if given != "" {
		c.requireKnown(flag, flag, given, known)
	}
	return given
}

// requireKnown refuses the text of a flag that is none of the known names. noun says what they name.
func (c *call) requireKnown(noun, flag, given string, known []string) {
	if !slices.Contains(known, given) {
		c.fail(&refusal{failed, fmt.Sprintf("There is no %s %q.%s", noun, given, closest(given, known)),
			"--" + flag + " with one of " + strings.Join(known, ", ")})
	}
}

// closest returns a sentence that suggests the known name that is most like the given one. It is empty if no name is like it.
func closest(name string, known []string) string {
	like := func(k string) int { return levenshtein.ComputeDistance(strings.ToLower(k), strings.ToLower(name)) }
	if len(known) == 0 || name == "" {
		return ""
	}
	best := slices.MinFunc(known, func(a, b string) int { return like(a) - like(b) })
	if like(best) > min(len(best), len(name))/3+1 {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", best)
}
