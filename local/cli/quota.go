package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/local/cli/client"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
)

// quotaOf returns the quota of the registration r now. Answers to requests that register have none.
func (c *call) quotaOf(task, r object) record.Quota {
	if r["quota"] == nil && c.err == nil {
		r = c.get(registrationsOf(task) + "/" + r.id())
	}
	return memberAs[record.Quota](r, "quota")
}

// ofDataset returns what a quota says of the dataset.
func ofDataset(q record.Quota, d object) (of record.DatasetQuota, known bool) {
	i := slices.IndexFunc(q.Datasets, func(of record.DatasetQuota) bool { return of.DatasetID == d.id() })
	if i < 0 {
		return of, false
	}
	return q.Datasets[i], true
}

// tellQuota says until when the datasets take runs of the team, how many are left, when others than the organizers see scores, and whether
// a run would wait for a worker. It returns why not all of them take a run now, in a sentence, or "". It says nothing of datasets that
// are closed, because the server says why it refuses a run, unless it repeats an earlier one.
func (c *call) tellQuota(datasets []object, q record.Quota) (closed string) {
	for _, d := range datasets {
		of, known := ofDataset(q, d)
		why := takesNone(d, of, q, c.submissionType())
		if !known || why != "" {
			if known && !slices.Contains(of.Types, c.submissionType()) {
				c.note("%s", why)
			}
			closed = cmp.Or(closed, why)
			continue
		}
		said := []string{d.text("name") + " takes runs" + until(of.ClosesAt) + "."}
		if left := leftOf(of.QuotaLeft); left != "" {
			said = append(said, "Left to submit: "+left+".")
		}
		if withheld := withheldScores(of, d); withheld != "" {
			said = append(said, withheld)
		}
		if unserved := unservedType(of.UnservedTypes, c.submissionType()); unserved != "" {
			said = append(said, unserved)
		}
		c.note("%s", strings.Join(said, " "))
	}
	closed = cmp.Or(closed, leftOfTask(q, datasets))
	c.tellCarriedOver(q)
	return closed
}

// refusalBefore returns the refusal of a submission that the server would refuse for a dataset, before the caller registers, accepts terms
// or waits for the organizers for it. It returns nil for teams that need nothing of this: the server says why it refuses these.
func (c *call) refusalBefore(task, registered object, datasets []object) *refusal {
	var q record.Quota
	waits := ""
	switch {
	case registered == nil:
		q = quotaOfNewTeam(task, datasets)
	case registered.text("state") == string(record.Pending):
		q = c.quotaOf(task, registered)
		waits = " " + notAccepted(task, registered)
	case registered.text("state") == string(record.Accepted) && lacksTerms(task, registered):
		q = c.quotaOf(task, registered)
	default:
		return nil
	}
	for _, d := range datasets {
		of, _ := ofDataset(q, d)
		if of.ClosedReason == record.ClosedByTerms || of.ClosedReason == record.ClosedUnregistered { // This can come next.
			of.Open = true
		}
		if why := takesNone(d, of, q, c.submissionType()); why != "" {
			code := outside
			if !slices.Contains(of.Types, c.submissionType()) {
				code = failed
			}
			return &refusal{code, withCarriedOver(why, q) + waits, ""}
		}
	}
	if why := leftOfTask(q, datasets); why != "" {
		return &refusal{outside, withCarriedOver(why, q) + waits, ""}
	}
	return nil
}

// quotaOfNewTeam returns the quota that a new team would have. It does not know whether datasets have a ground truth, and the usage of
// earlier teams.
func quotaOfNewTeam(task object, datasets []object) record.Quota {
	t := new(record.TaskItem)
	t.Submissions = memberAs[record.SubmissionRules](task, "submissions")
	sets := lists.Map(datasets, func(d object) *record.DatasetItem {
		set := new(record.DatasetItem)
		set.ID = d.id()
		set.Submissions = memberAs[record.DatasetSubmissions](d, "submissions")
		set.Builds = memberAs[bool](d, "builds")
		set.TruthVersion = 1
		return set
	})
	return new(record.Allowance).Quota(t, sets, record.Participation{State: record.Accepted}, time.Now())
}

// formsOfType names the files or programs of each type of submissions.
var formsOfType = map[record.SubmissionType]string{record.UploadType: "files", record.ImageType: "images",
	record.RepositoryType: "repositories"}

// formsOf names the types of submissions that a dataset takes.
func formsOf(types []record.SubmissionType) string {
	return strings.Join(lists.Map(types, func(of record.SubmissionType) string { return formsOfType[of] }), ", ")
}

// onlyForms ends a sentence with the types of submissions that a dataset takes instead. It is empty if there are none.
func onlyForms(types []record.SubmissionType) string {
	if len(types) == 0 {
		return ""
	}
	return ", only " + formsOf(types)
}

// takesNone says why a dataset takes no run of the team, with the quota q, now by a submission of a form. It is empty if the dataset takes
// one.
func takesNone(d object, of record.DatasetQuota, q record.Quota, form record.SubmissionType) string {
	switch {
	case of.DatasetID == "":
		return ""
	case !slices.Contains(of.Types, form):
		return d.text("name") + " takes no " + formsOfType[form] + onlyForms(of.Types) + "."
	case !of.Open:
		return d.text("name") + " takes no runs: " + whyClosed(of) + "."
	case of.Left != nil && *of.Left == 0:
		return noneLeft(d, of, q)
	}
	return ""
}

// withheldScores says until when nobody but the organizers sees the scores of runs on a dataset. It is empty if their teams do at once.
func withheldScores(q record.DatasetQuota, d object) string {
	until, _ := shownFrom(memberAs[[]record.Column](d, "columns"), access.Owners)
	switch {
	case until == never:
		return "Nobody but the organizers sees scores."
	case q.StartsBlinded && until != "":
		return "Its runs start blinded: nobody but the organizers sees their scores until they unblind them, and not before " + until + "."
	case q.StartsBlinded:
		return "Its runs start blinded: nobody but the organizers sees their scores until they unblind them."
	case until != "":
		return "Nobody but the organizers sees scores until " + until + "."
	}
	return ""
}

// scoresShown says in a cell when the team sees the scores of its runs on a dataset.
func scoresShown(q record.DatasetQuota, d object) string {
	columns := memberAs[[]record.Column](d, "columns")
	_, from := shownFrom(columns, access.Owners)
	differs := func(of record.Column) bool {
		_, other := shownFrom([]record.Column{of}, access.Owners)
		return other != from
	}
	some := ""
	if slices.ContainsFunc(columns, differs) {
		some = ", some columns"
	}
	switch {
	case from == never || !q.StartsBlinded:
		return cmp.Or(from, "at once") + some
	case from != "":
		return "once unblinded, " + from + some
	}
	return "once unblinded" + some
}

// ranking returns the heading of the column by which the caller's leaderboard ranks now: the first one that others see, and for organizers
// the first one.
func (c *call) ranking(task, d object) string {
	columns := memberAs[[]record.Column](d, "columns")
	for i := range columns {
		if until, _ := shownFrom(columns[i:i+1], access.Registrants); until == "" || c.organizes(task) {
			return heading(columns[i])
		}
	}
	return "-"
}

// never is what shownFrom returns for readers who see no scores.
const never = "never"

// shownFrom says until when readers of the class see none of the columns, to follow the word until, and from when they see one, in a cell.
// Both are empty if they see one at once.
func shownFrom(columns []record.Column, class access.Audience) (until, from string) {
	first, ok := record.FirstShown(columns, class, time.Now())
	at, isInstant := first.At()
	switch {
	case !ok:
		return never, never
	case isInstant:
		return localTime(&at), "from " + localTime(&at) + " on"
	case first == record.FromClose:
		return "the window of every team has closed", "after the last close"
	case first == record.FromPublication:
		return "the organizers have published the run", "once published"
	}
	return "", ""
}

// unservedType says that no worker takes runs of this type on a dataset now. It is empty if a worker does, or none is needed.
func unservedType(unserved []record.SubmissionType, of record.SubmissionType) string {
	if !slices.Contains(unserved, of) {
		return ""
	}
	return fmt.Sprintf("No worker for it has been seen for a minute, so a run waits until one comes, for %d days at most.",
		int(record.QueueTime/record.Day))
}

func until(closes *record.Instant) string {
	if closes == nil {
		return ""
	}
	return " until " + localTime(closes)
}

// localTime returns an instant in the local time zone.
func localTime(at *record.Instant) string {
	text, _ := client.LocalTime(at.String())
	return text
}

// left returns lines with the runs that are left for each of the datasets now.
func (c *call) left(task object, datasets []object) (lines [][]string) {
	q := memberAs[record.Quota](c.registration(task), "quota")
	for _, d := range datasets {
		of, known := ofDataset(q, d)
		if left := leftNow(of); known && left != "" {
			lines = append(lines, []string{"Left to submit", d.text("name") + ": " + left})
		}
	}
	c.tellTerms(task, q)
	return lines
}

// takesRuns says in a cell whether a dataset of the task takes runs of the team with the registration r, and from or until when.
func takesRuns(q record.DatasetQuota, task, r object) string {
	switch reason := q.ClosedReason; {
	case q.Open:
		return "yes" + until(q.ClosesAt)
	case reason == record.ClosedLate:
		return "closed " + localTime(q.ClosesAt)
	case reason == record.ClosedUnregistered, r.text("state") == string(record.Rejected):
		return "no, your team is not accepted"
	case reason == record.ClosedEarly:
		return "from " + localTime(q.OpensAt) + onceTakingPart(task, r)
	case reason == record.ClosedAlways:
		return "no, it closes before it opens"
	case reason == record.ClosedNoTruth:
		return "no, without a ground truth"
	case reason == record.ClosedDeleting:
		return "no, being deleted"
	default:
		return "no, accept the terms"
	}
}

// onceTakingPart returns what a team needs besides an open dataset to submit, for the end of a cell. It is empty if nothing is missing.
func onceTakingPart(task, r object) string {
	switch {
	case r.text("state") != string(record.Accepted):
		return ", once your team is accepted"
	case lacksTerms(task, r):
		return ", once your team has accepted the terms"
	}
	return ""
}

// listDatasets lists the datasets of a task. Members of a team see whether and until when each takes runs of the team, what is left, and
// when the team sees scores.
func listDatasets(c *call, task object) {
	list := all[object](c, datasetsOf(task))
	const columns = "ID id|NAME name|SPLIT split|FORMAT runFormat.kind|MEASURE ranking|INPUTS inputsShown|TAKES forms"
	if !c.json {
		ofTask := memberAs[record.SubmissionRules](task, "submissions").Types
		for _, d := range list {
			d["ranking"] = c.ranking(task, d)
			d["forms"] = formsOf(record.SubmissionTypes(ofTask, memberAs[bool](d, "builds")))
		}
	}
	var r object
	if len(list) > 0 {
		r = c.knownRegistration(task)
	}
	q := memberAs[record.Quota](r, "quota")
	if !c.json {
		c.showInputs(task, r, list, q)
	}
	finals := c.finalsColumn(list)
	if len(q.Datasets) == 0 {
		c.table(list, noDataset, columns+finals)
		return
	}
	for _, d := range list {
		of, known := ofDataset(q, d)
		if !known {
			continue
		}
		d["quota"] = objectOf(of)
		if c.json {
			continue
		}
		d["takesRuns"] = takesRuns(of, task, r)
		d["scoresShown"] = scoresShown(of, d)
		if !of.Open {
			delete(d, "quota") // nothing is left of a dataset that takes no runs
		}
	}
	c.table(list, noDataset, columns+"|TAKES RUNS takesRuns|LEFT quota.left|ONE MORE quota.nextAt|SCORES SHOWN scoresShown"+finals)
	c.tellCarriedOver(q)
	c.tellTerms(task, q)
}

// showInputs sets the cells of the inputs of datasets. It says why the caller, with the registration r, may not read those that are
// hidden.
func (c *call) showInputs(task, r object, datasets []object, q record.Quota) {
	why := ""
	if slices.ContainsFunc(datasets, withholdsInputs) {
		why = c.withheldInputs(task, r)
	}
	var hidden []string
	for _, d := range datasets {
		d["inputsShown"] = d.text("inputs")
		if why != "" && withholdsInputs(d) {
			hidden = append(hidden, d.text("name"))
			d["inputsShown"] = "hidden"
		}
	}
	if len(hidden) > 0 && c.err == nil && !slices.ContainsFunc(q.Datasets, closedByTerms) { // Otherwise tellTerms says why.
		c.note("You may not read inputs of %s. %s", strings.Join(hidden, " and "), why)
	}
}

// withholdsInputs reports whether a dataset gives inputs only to accepted teams and the organizers, and shows none to the caller.
func withholdsInputs(dataset object) bool {
	return dataset.text("inputsFor") == string(record.InputsForRegistrants) && len(filesOf(dataset, "inputs")) == 0
}

// tellTerms says how the team accepts the present terms of a task, if a dataset takes no run of the team before.
func (c *call) tellTerms(task object, q record.Quota) {
	if c.err == nil && !c.json && slices.ContainsFunc(q.Datasets, closedByTerms) {
		c.note("Your team has not accepted the present terms of %s. %s", task.text("name"), c.howToAccept())
	}
}

func closedByTerms(q record.DatasetQuota) bool { return q.ClosedReason == record.ClosedByTerms }

const noDataset = "The task has no dataset yet."

// knownRegistration returns the caller's registration for the task. It is nil for callers who are not signed in or have no team. An error
// is no reason to list no datasets.
func (c *call) knownRegistration(task object) object {
	if !c.signedIn() {
		return nil
	}
	r := c.registration(task)
	if c.ctx.Err() == nil {
		c.err = nil
	}
	return r
}

// objectOf returns a value in the form of the API.
func objectOf(value any) map[string]any {
	return memberAs[map[string]any](object{"": value}, "")
}
