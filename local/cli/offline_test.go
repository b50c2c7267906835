package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/testing/nightlytest"
	"assay/shared/testing/programtest"

	"pgregory.net/rapid"
)

// local returns a person without a server.
func local(t *testing.T) *person {
	t.Helper()
	return &person{t: t, folder: t.TempDir(), home: t.TempDir()}
}

// TestEval_PrintsWhatTrecEvalPrints compares each line with the output of trec_eval 10.0 -c -q -m all_trec for real runs.
func TestEval_PrintsWhatTrecEvalPrints(t *testing.T) {
	references, err := filepath.Glob(programtest.Root(t) + "/shared/computation/measure/retrieval/testdata/*/*.trec_eval.txt")
	if err != nil || len(references) < 5 {
		t.Fatal(references, err)
	}
	p, compared := local(t), 0
	for _, path := range references {
		qrels := filepath.Join(filepath.Dir(path), "qrels.txt")
		run := strings.Replace(path, ".trec_eval.", ".run.", 1)
		got := p.want(done, "eval", "--trec", "-c", "-q", "-m", "all_trec", qrels, run)
		has := map[string]string{}
		for line := range strings.Lines(got) {
			if name, rest, ok := strings.Cut(line, "\t"); ok {
				topic, _, _ := strings.Cut(rest, "\t")
				has[name+topic] = line
			}
		}
		printed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(printed)) {
			name, rest, _ := strings.Cut(line, "\t")
			topic, _, _ := strings.Cut(rest, "\t")
			if mine, ok := has[name+topic]; ok {
				compared++
				if mine != line {
					t.Errorf("%s: %q, and trec_eval prints %q", filepath.Base(run), mine, line)
				}
			}
		}
	}
	t.Logf("%d lines of %d runs were compared", compared, len(references))
	if compared < 30_000 {
		t.Errorf("%d lines were compared", compared)
	}
}

// TestEval_TakesWhatIsSaid checks that flags have precedence over the content of a file.
func TestEval_TakesWhatIsSaid(t *testing.T) {
	p := local(t)
	truth := p.write("truth.csv", "id,label,gold\na,x,p\nb,y,q\n")
	run := p.write("run.csv", "id,label,gold\na,x,q\nb,y,p\n")
	p.says(done, []string{"1.0000"}, "eval", truth, run, "Accuracy")
	p.says(done, []string{"0.0000"}, "eval", truth, run, "Accuracy", "--value", "gold")
	p.says(done, []string{"0.0000"}, "eval", truth, run, "Accuracy", "--value", "gold", "--kind", "classification")
	p.says(fileRefused, []string{`no field "doc"`}, "validate", run, "--id", "doc")
	p.says(done, []string{"Valid."}, "validate", run, "--value", "gold")
	p.says(fileRefused, []string{`no field "labels"`}, "validate", run, "--kind", "multilabel", "--value", "labels")
	p.says(done, []string{"Valid."}, "validate", p.write("other.csv", "id;labels\na;x\n"), "--kind", "multilabel")
	p.says(fileRefused, []string{"is null"}, "validate", p.write("run.jsonl", `{"id":"a","label":null}`+"\n"), "--kind", "classification")
	p.says(fileRefused, []string{`expected is csv with the fields "id" and "label"`, "--from jsonl --id id --value label --to csv"}, "eval", truth,
		p.write("run.jsonl", `{"id":"a","label":"x"}`+"\n"), "Accuracy")
	labels := p.write("labels.csv", "id,label\na,no\nb,yes\n")
	scores := p.write("scores.csv", "id,label\na,0.25\nb,0.5\n")
	p.says(done, []string{"1.0000", "AUC was computed with positive:yes"}, "eval", labels, scores, "AUC")
	p.says(done, []string{"0.6931"}, "eval", labels, p.write("classes.csv", "id,no,yes\na,0.5,0.5\nb,0.5,0.5\n"), "LogLoss")
	p.says(done, []string{"Accuracy", "F1(positive=p)", "run.csv: F1(positive=p) has no value: "}, "eval", truth, run, "Accuracy",
		"F1(positive=p)")
}

func TestEval_Flags(t *testing.T) {
	p := local(t)
	qrels := p.write("qrels.txt", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 1\n")
	run := p.write("run.txt", "1 Q0 x 1 4 t\n1 Q0 a 2 3 t\n1 Q0 b 3 2 t\n")
	other := p.write("other.txt", "1 Q0 b 1 4 o\n2 Q0 a 2 3 o\n")
	// The lines equal those of trec_eval 10.0. Without -c they equal those of version 9, because 10.0 stops at topics that the run lacks.
	for args, want := range map[string]string{
		"":                       "map                   \tall\t0.5833\n",
		"-c":                     "map                   \tall\t0.2917\n",
		"-l 2":                   "map                   \tall\t0.5000\n",
		"-J":                     "map                   \tall\t1.0000\n",
		"-q -n":                  "map                   \t1\t0.5833\n",
		"-c -l 2 -m num_rel":     "num_rel               \tall\t3\n",
		"-m P.1,3":               "P_1                   \tall\t0.0000\nP_3                   \tall\t0.6667\n",
		"-m ndcg_cut_2 -m runid": "runid                 \tall\tt\nndcg_cut_2            \tall\t0.4796\n",
		"-J -m num_ret":          "num_ret               \tall\t2\n",
		"-J -m infAP":            "infAP                 \tall\t1.0000\n",
		"-m infAP":               "infAP                 \tall\t0.5833\n",
		"-m 11pt_avg":            "11pt_avg              \tall\t0.6667\n",
		"-q -m gm_map":           "gm_map                \tall\t0.5833\n",
		"-c -m gm_map":           "gm_map                \tall\t0.0024\n",
		"-c -l 2 -m gm_map":      "gm_map                \tall\t0.0022\n",
		"-m ndcg.1=3.5,2=9.0":    "ndcg_1=3.5,2=9.0      \tall\t0.6628\n",
		"-m ndcg_2=0.5,0=-1":     "ndcg_2=0.5,0=-1       \tall\t0.6199\n",
	} {
		list := append([]string{"eval", "--trec", qrels, run}, strings.Fields(args)...)
		if !strings.Contains(args, "-m") {
			list = append(list, "-m", "map")
		}
		if r := p.run(t.Context(), list...); r.code != done || r.out != want {
			t.Errorf("%s: %d, %q, want %q\n%s", args, r.code, r.out, want, r.errs)
		}
	}
	p.says(done, []string{"num_ret               \tall\t1\n"}, "eval", "--trec", p.write("negative.txt", "1 0 a 2\n1 0 x -1\n"), run, "-J",
		"-m", "num_ret")
	two := p.write("two.txt", "1 Q0 a 1 3 first\n3 Q0 a 1 3 last\n\n# of two systems\n")
	p.says(done, []string{"runid                 \tall\tlast\n"}, "eval", "--trec", qrels, two)
	p.says(failed, []string{"give a whole number from 1"}, "eval", "--trec", "-l", "0", qrels, run)
	var judged, found strings.Builder
	for i := range 16 {
		fmt.Fprintf(&found, "1 Q0 d%d 1 %d t\n", i, 16-i)
	}
	for i := range 10 {
		fmt.Fprintf(&judged, "1 0 d%d 1\n", i+13) // The run has three of these documents.
	}
	// trec_eval divides only once, which decides the rounding.
	p.says(done, []string{"set_map               \tall\t0.0563\n"}, "eval", "--trec", p.write("judged.txt", judged.String()),
		p.write("found.txt", found.String()), "-m", "set_map")
	p.says(done, []string{"nDCG@10", "DIFFERENCE", run, other}, "eval", qrels, run, other, "nDCG@10", "AP")
	if r := p.run(t.Context(), "eval", qrels, run, other, "GMAP"); r.code != done || strings.Contains(r.out, "DIFFERENCE") ||
		!strings.Contains(r.errs, "GMAP is no mean") {
		t.Errorf("GMAP is compared: %s%s", r.out, r.errs)
	}
	p.says(failed, []string{`There is no kind "ranking"`}, "eval", qrels, run, "--kind", "ranking")
	p.says(failed, []string{`no file and no measure "missing.txt"`}, "eval", qrels, run, "missing.txt")
	p.says(failed, []string{"files stand before measures"}, "eval", qrels, run, "AP", run)
	p.says(fileRefused, []string{"is a directory"}, "eval", p.folder, run)
	p.says(failed, []string{`no measure "foo"`}, "eval", "--trec", "-m", "foo", qrels, run)
	p.says(failed, []string{"did you mean the measure AP of retrieval"}, "eval", qrels, run, "ap")
	p.says(fileRefused, []string{"bad.txt:1: error"}, "eval", qrels, p.write("bad.txt", "1 Q0 a 1 nan t\n"), "AP")
	p.says(fileRefused, []string{"no file missing"}, "eval", qrels, "missing", "AP")
	labels := p.write("truth.jsonl", `{"id":"1","label":"a"}`+"\n"+`{"id":"2","label":"b"}`+"\n")
	predicted := p.write("labels.jsonl",
		`{"id":"1","label":"a"}`+"\n"+`{"id":"2","label":"a"}`+"\n")
	p.says(done, []string{"Accuracy", "0.5000"}, "eval", labels, predicted, "Accuracy")
	p.says(done, []string{"MCC"}, "eval", labels, predicted, "--measure", "MCC")
	p.says(failed, []string{`there is no classification measure "BLEU", but one of the kind text: `},
		"eval", labels, predicted, "--measure", "BLEU", "--kind", "classification")
	p.says(done, []string{"BLEU was computed with nrefs:1"}, "eval", labels, predicted, "--measure", "BLEU") // No other kind has BLEU.
	truth := p.write("truth.csv", "item,y\n1,0.5\n2,1.5\n")
	values := p.write("values.csv", "item,y\n1,1.0\n2,1.5\n")
	p.says(done, []string{"0.2500"}, "eval", truth, values, "MAE", "--kind", "regression", "--format", "csv", "--id", "item", "--value", "y")
	p.says(done, []string{"Valid."}, "validate", run, predicted)
	p.says(fileRefused, []string{"bad.txt:1"}, "validate", run, filepath.Join(p.folder, "bad.txt"))
}

func TestFiles_AreWrittenWholeOrNotAtAll(t *testing.T) {
	p := local(t)
	run := p.write("run.txt", "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n")
	bad := p.write("bad.txt", "1 Q0 a 1 2.0 t\n1 Q0 b\n")
	out := filepath.Join(p.folder, "out")
	p.want(fileRefused, "convert", bad, "-o", out)
	p.want(fileRefused, "fuse", run, bad, "-o", out)
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a file of what was refused")
	}
	p.want(done, "convert", run, "--to", "csv", "-o", out)
	if got, err := os.ReadFile(out); err != nil || string(got) != "topic,docid,rank,score,tag\n1,a,1,2.0,t\n1,b,2,1.0,t\n" {
		t.Errorf("%q, %v", got, err)
	}
	p.says(done, []string{"query-id\tcorpus-id\tscore\n1\ta\t1"}, "convert", p.write("q.txt", "1 0 a 1\n"), "--from", "trec-qrels",
		"--to", "beir")
	p.says(done, []string{"1 Q0 a 1 4 fused", "1 Q0 b 2 0 fused"}, "fuse", run, run, "--method", "combmnz")
	p.says(failed, []string{"no method"}, "fuse", run, run, "--method", "vote")
	p.says(failed, []string{"no normalization"}, "fuse", run, run, "--method", "combsum", "--normalization", "vote")
	p.says(failed, []string{"--k: must be"}, "fuse", run, run, "--k", "-60")
}

// TestNames_OfOthersStayInTheFolder checks names that would leave the folder, hide a file, or control a terminal.
func TestNames_OfOthersStayInTheFolder(t *testing.T) {
	hostile := []string{"../../etc/passwd", "..", "-rf", ".ssh", "a/b\\c", "con\x1b[2J", "NUL", "aux.txt", strings.Repeat("ä", 200)}
	nightlytest.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom(hostile)).Draw(rt, "name")
		got := fileName(name, "0")
		if !filepath.IsLocal(got) || len(got) > 150 || filepath.Base(got) != got || strings.ContainsAny(got[:1], ".-") ||
			!utf8.ValidString(got) || strings.ContainsAny(got, "/\\:\x00") {
			rt.Errorf("%q becomes %q", name, got)
		}
		others := rapid.OneOf(rapid.String(), rapid.Just(strings.ReplaceAll(name, "/", "_")), rapid.Just(strings.TrimSpace(name)))
		if other := others.Draw(rt, "other"); other != name && fileName(other, "1") == got {
			rt.Errorf("%q and %q become %q", name, other, got)
		}
		if text := printable(name); strings.ContainsAny(text, "\x1b\x00\r\b\u202e") {
			rt.Errorf("%q is printed as %q", name, text)
		}
	})
	flat := map[string]string{}
	flatten(flat, "", map[string]any{"a": "=1+1", "b": map[string]any{"c": "-2"}, "d": "plain", "e": nil, "f": []any{1.0}, "g": 2.5})
	for name, want := range map[string]string{"a": "'=1+1", "b.c": "'-2", "d": "plain", "e": "", "f": "[1]", "g": "2.5"} {
		if flat[name] != want {
			t.Errorf("%s is %q, want %q", name, flat[name], want)
		}
	}
}

// TestRoot_HasPagesAndCompletions writes a page of the manual for each command, and completes for each shell.
func TestRoot_HasPagesAndCompletions(t *testing.T) {
	p := local(t)
	p.want(done, "man", p.folder)
	for _, page := range []string{"assay.1", "assay-submit.1", "assay-tokens-create.1", "assay-registrations-accept.1"} {
		if content, err := os.ReadFile(filepath.Join(p.folder, page)); err != nil || !strings.Contains(string(content), ".SH SYNOPSIS") {
			t.Errorf("%s: %v", page, err)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		p.says(done, []string{"assay"}, "completion", shell)
	}
	p.says(done, []string{"Two commands lead", "Exit codes", "Taking part:"}, "help")
}

// TestEvaluate_HasTheValuesOfEveryTopic computes more values than a server stores.
func TestEvaluate_HasTheValuesOfEveryTopic(t *testing.T) {
	const measures = 100
	s := scoring.Settings{Kind: measure.Retrieval, Format: measure.Format{Kind: measure.TRECRun}}
	for depth := range measures {
		s.Measures = append(s.Measures, fmt.Sprintf("P@%d", depth+1))
	}
	topics := measure.MaxTopicValues/measures + 1
	var qrels, run strings.Builder
	for i := range topics {
		fmt.Fprintf(&qrels, "%d 0 d 1\n", i)
		fmt.Fprintf(&run, "%d Q0 d 1 1 x\n", i)
	}
	folder := t.TempDir()
	var files []string
	for name, text := range map[string]string{"qrels": qrels.String(), "run": run.String()} {
		files = append(files, filepath.Join(folder, name))
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	truth, err := offline.ReadTruth(t.Context(), s, offline.Files(files[0])...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := truth.Evaluate(t.Context(), offline.Files(files[1])...)
	if err != nil || len(list[0].PerTopic) != topics || list[0].PerTopic["7"]["P@2"] != 0.5 || len(list[0].Reasons) > 0 {
		t.Errorf("%d topics, %v, %v", len(list[0].PerTopic), list[0].Reasons, err)
	}
}
