package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEval_GuessesByTruthAndRun checks that a guess names the file and the flag at fault.
func TestEval_GuessesByTruthAndRun(t *testing.T) {
	p := local(t)
	truth := p.write("truth.csv", "id,label\na,x\nb,y\n")
	p.says(fileRefused, []string{`run.csv has another format or other fields; expected is csv with the fields "id" and "label"`},
		"eval", truth, p.write("run.csv", "id,Label\na,x\nb,y\n"))
	texts := p.write("texts.jsonl", `{"id":"a","text":"one two three four five"}`+"\n")
	p.says(done, []string{"ROUGE1", "1.0000"}, "eval", texts, texts, "--format", "jsonl", "--kind", "text")
	p.says(done, []string{"EM"}, "eval", texts, texts, "EM", "--format", "jsonl")
	p.says(failed, []string{`no file and no measure "Acuracy"; did you mean the measure Accuracy of classification?`}, "eval", truth, truth, "F1",
		"Acuracy")
	for text, want := range map[string]string{
		"Presicion@5": "P@5 of retrieval?", "ndcg@10": "nDCG@10 of retrieval", "ndcg@x": "nDCG of retrieval",
		"precision(average=macro)": "Precision(average=macro) of classification, multilabel, spans?",
	} {
		p.says(failed, []string{"did you mean the measure " + want}, "eval", truth, truth, text)
	}
	p.says(fileRefused, []string{"is a folder"}, "eval", truth, p.folder, "Accuracy")
	p.says(failed, []string{"no kind of evaluator has BLEU and the measures before it: it belongs to text, and they to retrieval"},
		"eval", truth, truth, "nDCG@10", "BLEU")
	p.says(fileRefused, []string{"scores.jsonl:2: error: the line is not a JSON object: invalid character 'N'"}, "eval",
		p.write("numbers.jsonl", `{"id":"a","value":1.5}`+"\n"+`{"id":"b","value":2}`+"\n"),
		p.write("scores.jsonl", `{"id":"a","value":1.5}`+"\n"+`{"id":"b","value":NaN}`+"\n"), "RMSE")
	p.says(fileRefused, []string{"run.jsonl:1: error: the line is not a JSON object: invalid character 'N'", "read as jsonl for regression"},
		"validate", p.write("run.jsonl", `{"id":"a","value":NaN}`+"\n"), "--kind", "regression")
	long := p.write("long.jsonl", `{"text":"`+strings.Repeat("word ", 14_000)+`","id":"a"}`+"\n")
	p.says(fileRefused, []string{`long.jsonl:1: error: "text" has 70000 bytes`, `with the id in "id" and the value in "text"`}, "validate", long,
		"--kind", "text")
	p.says(fileRefused, []string{"if the file, read as trec-run for retrieval, is something else"}, "validate", p.write("x.txt", "a b\n"))
	p.says(fileRefused, []string{"if the file, read as trec-run for retrieval, is something else"}, "eval", p.write("q.txt", "1 0 a 1\n"),
		filepath.Join(p.folder, "x.txt"))
	p.says(fileRefused, []string{`x.txt:1: error: the first line names no field "id"; it has "a b"`}, "eval", truth, filepath.Join(p.folder, "x.txt"))
	labelled := []string{`x.txt begins like no file for classification: read as csv for classification, with the id in "id" and the value in "label"`}
	p.says(fileRefused, labelled, "eval", filepath.Join(p.folder, "x.txt"), truth, "Accuracy")
	p.says(fileRefused, []string{"measures of another kind than nDCG, if the file, read as trec-run for retrieval, is something else"},
		"eval", truth, truth, "nDCG")
	qrels := p.write("qrels.txt", "1 0 a 1\n1 0 b 0\n")
	run := p.write("run.txt", "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n")
	for _, kind := range []string{"classification", "spans"} {
		p.says(fileRefused, []string{"qrels.txt looks like relevance judgments in the format of TREC, which is not for " + kind + ": read as ",
			"(--format, --kind, --id and --value say otherwise)", "error: the file is relevance judgments in the format of TREC; expected",
			"only measures of rankings, such as nDCG@10, read this format"}, "eval", qrels, run, "--kind", kind)
	}
	p.says(fileRefused, []string{`run.txt: error: the file is a ranking in the format of TREC; expected csv with the fields "id" and "label"`},
		"eval", truth, run, "Accuracy")
	labels := p.write("labels.csv", "id,label\na,no\nb,yes\n")
	p.says(done, []string{"AUC", "1.0000"}, "eval", labels, p.write("scores.csv", "id,label\na,0.25\nb,0.5\n"))
}

// TestEval_NamesTheFaultOfAMeasure names measures whose parameters are missing or wrong for all kinds, or for some.
func TestEval_NamesTheFaultOfAMeasure(t *testing.T) {
	p := local(t)
	labels := p.write("labels.csv", "id,label\na,x\nb,y\n")
	numbers := p.write("numbers.csv", "id,value\na,0.5\nb,1.5\n")
	for _, c := range []struct {
		file     string
		measures []string
		want     string
	}{
		{labels, []string{"F1", "Accuracy"}, `measure "F1": F1 needs exactly one of average, positive`},
		{labels, []string{"Accuracy", "F1"}, `measure "F1": F1 needs exactly one of average, positive`},
		{labels, []string{"F1", "Accuracy", "--kind", "classification"}, `measure "F1": F1 needs exactly one of average, positive`},
		{labels, []string{"F1(edition=2022)"}, `measure "F1(edition=2022)": edition=2022: give one of 2021, 2024, 2025`},
		{numbers, []string{"F1(edition=2022)"}, `measure "F1(edition=2022)": edition=2022: give one of 2021, 2024, 2025`},
		{numbers, []string{"F1(average=x)"}, `average=x: give one of macro, micro, weighted. It was read as a measure of classification: ` +
			`--kind names another kind, such as multilabel, spans`},
		{labels, []string{"F1(average=x)"}, "average=x: give one of macro, micro, weighted. The files look like classification"},
		{numbers, []string{"F1(average=macro)"}, "The files look like regression: --kind names another kind"},
		{labels, []string{"F1(average=macro)", "AUC"}, "no kind of evaluator has AUC and the measures before it"},
		{labels, []string{"Acuracy", "--kind", "classification"}, "there is no file and no measure"},
	} {
		p.says(failed, []string{c.want}, append([]string{"eval", c.file, c.file}, c.measures...)...)
	}
}

// TestValidate_SaysWhatHelps checks the verdict about a file with warnings, and that no other format is suggested for faults that another
// one would not solve.
func TestValidate_SaysWhatHelps(t *testing.T) {
	p := local(t)
	p.says(done, []string{"warning: the line has more than six fields", "Valid, with 1 warning."}, "validate",
		p.write("long.txt", "1 Q0 a 1 2.5 x y\n1 Q0 b 2 1.5 x y\n"))
	for name, content := range map[string]string{
		"a pointer":    "version https://git-lfs.github.com/spec/v1\n",
		"a web page":   "<html>\n",
		"cut gzip":     "\x1f\x8b\x08\x00\x00",
		"CR":           "1 Q0 a 1 2.5 x\r1 Q0 b 2 1.5 x\r",
		"a duplicate":  "1 Q0 a 1 2.5 x\n1 Q0 a 2 1.5 x\n",
		"a known case": "1 Q0 a 2.5 x\n",
		"a printout":   "  id label\n0 1 x\n\n[30 rows x 2 columns]\n",
	} {
		if got := p.want(fileRefused, "validate", p.write("run.txt", content)); strings.Contains(got, "is something else") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestForeignFiles_AreHealedByTheCommand pastes the commands that refusals name into a shell, and evaluates the converted files.
func TestForeignFiles_AreHealedByTheCommand(t *testing.T) {
	p := local(t)
	program := built(t, "local/cli")
	t.Chdir(p.folder)
	qrels := p.write("qrels.txt", "1 0 a 1\n1 0 b 0\n")
	for name, content := range map[string]string{
		"run's of PyTerrier.csv": ",qid,docid,docno,rank,score\n0,1,7,a,1,2.5\n1,1,8,b,2,1.5\n",
		"run.json":               `{"1": {"a": 2.5, "b": 1.5}}`,
		"-run.tsv":               "1\ta\t1\n1\tb\t2\n",
		"run.jsonl":              `{"query_id":"1","doc_id":"a","score":2.5}` + "\n",
		"qrels.tsv":              "query-id\tcorpus-id\tscore\n1\ta\t1\n",
		"qrels.json":             `{"1": {"a": 1}}`,
		"qrels.csv":              "qid;docno;label\n1;a;1\n",
	} {
		p.write(name, content)
		truth, run := "qrels.txt", "./"+name
		if strings.HasPrefix(name, "qrels") {
			truth, run = "./"+name, "good.txt"
		}
		p.write("good.txt", "1 Q0 a 1 2 x\n")
		for _, args := range [][]string{{"eval", truth, run, "AP"}, {"eval", "--trec", truth, run}} {
			got := p.want(fileRefused, args...)
			_, command, ok := strings.Cut(got, "Try: ")
			if !ok || !strings.Contains(command, "assay convert ") {
				t.Errorf("%s: %s", name, got)
				continue
			}
			p.paste(program, command)
			converted := command[strings.LastIndex(command, " -o ")+4:]
			converted = strings.ReplaceAll(strings.Trim(strings.TrimSpace(converted), "'"), `'\''`, "'")
			if strings.HasPrefix(name, "qrels") {
				truth = converted
			} else {
				run = converted
			}
			if got := p.want(done, "eval", truth, run, "AP"); !strings.Contains(got, "1.0000") {
				t.Errorf("%s: %s", name, got)
			}
			truth, run = "qrels.txt", "./"+name
			if strings.HasPrefix(name, "qrels") {
				truth, run = "./"+name, "good.txt"
			}
		}
	}
	p.says(fileRefused, []string{"assay convert ", "run.json --from json --to trec-run"}, "validate", filepath.Join(p.folder, "run.json"))
	p.says(fileRefused, []string{"assay convert "}, "fuse", qrels, filepath.Join(p.folder, "run.json"))
	p.says(done, []string{"1 0 a 1"}, "convert", filepath.Join(p.folder, "qrels.json"))
	p.says(done, []string{`{"topic":"1","iteration":"0","docid":"a","grade":1}`}, "convert", qrels)
	p.says(failed, []string{`There is no format "beir".`, "--to with one of trec-run, jsonl, csv"}, "convert",
		filepath.Join(p.folder, "run.json"), "--from", "trec-run", "--to", "beir")
}

// TestForeignValues_AreHealedByTheCommand pastes the commands for files of labels and texts, and evaluates the converted files.
func TestForeignValues_AreHealedByTheCommand(t *testing.T) {
	p := local(t)
	program := built(t, "local/cli")
	t.Chdir(p.folder)
	p.write("labels.csv", "id,label\n1,a\n2,b\n3,c\n")
	p.write("labels.jsonl", `{"uid":"1","gold":"a"}`+"\n"+`{"uid":"2","gold":"b"}`+"\n"+`{"uid":"3","gold":"c"}`+"\n")
	for name, content := range map[string]string{
		"run of a team.csv": "ID,Label\n1,a\n2,b\n3,c\n",
		"run.jsonl":         `{"id":"1","label":"a"}` + "\n" + `{"id":"2","label":"b"}` + "\n" + `{"id":"3","label":"c"}` + "\n",
		"run.json":          `[{"id":"1","label":"a"},{"id":"2","label":"b"},{"id":"3","label":"c"}]`,
		"map.json":          `{"1":"a","2":"b","3":"c"}`,
		"pandas.csv":        "index,prediction\n1,a\n2,b\n3,c\n",
		"unnamed.csv":       "Unnamed: 0,y_pred\n1,a\n2,b\n3,c\n",
		"other.csv":         "row_id;target\n1;a\n2;b\n3;c\n",
		"idx.jsonl":         `{"idx":1,"output":"a"}` + "\n" + `{"idx":2,"output":"b"}` + "\n" + `{"idx":3,"output":"c"}` + "\n",
	} {
		p.write(name, content)
		for _, truth := range []string{"labels.csv", "labels.jsonl"} {
			_, command, ok := strings.Cut(p.want(fileRefused, "eval", truth, name, "Accuracy"), "Try: ")
			if !ok || !strings.HasPrefix(command, "assay convert ") {
				t.Errorf("%s: %s", name, command)
				continue
			}
			p.paste(program, command)
			converted := strings.Trim(strings.TrimSpace(command[strings.LastIndex(command, " -o ")+4:]), "'")
			p.says(done, []string{"1.0000"}, "eval", truth, converted, "Accuracy")
		}
	}
	for _, names := range []string{"PassengerId,label", "id,Survived"} { // one of two names is the truth's
		run := p.write("two.csv", names+"\n1,a\n2,b\n3,c\n")
		p.says(fileRefused, []string{"--to-id id --to-value label -o"}, "eval", "labels.csv", run, "Accuracy")
	}
	for _, names := range []string{"a,b", "id,x,z"} { // the first line may be an item, or the value may be either of two fields
		got := p.want(fileRefused, "eval", "labels.csv", p.write("no.csv", names+"\n"+names+"\n"), "Accuracy")
		if strings.Contains(got, "assay convert") {
			t.Errorf("%s: %s", names, got)
		}
	}
	p.says(fileRefused, []string{"expected is jsonl. Convert it first."}, "validate", "run.json", "--kind", "classification")
	p.says(done, []string{`{"id":"1","label":"a"}`}, "convert", "labels.csv", "--kind", "classification")
	p.says(failed, []string{`no kind "labels"`}, "convert", "labels.csv", "--kind", "labels")
	p.says(failed, []string{`There is no format "beir".`}, "convert", "labels.csv", "--kind", "classification", "--to", "beir")
	p.says(failed, []string{"name it with --from, --id and --value"}, "convert", p.write("x.txt", "a b\n"), "--kind", "classification")
}

// paste runs a command line in a shell, in the person's folder.
func (p *person) paste(program, line string) {
	p.t.Helper()
	shell := exec.CommandContext(p.t.Context(), "sh", "-ec", "assay() { "+program+" \"$@\"; }\n"+line)
	shell.Dir = p.folder
	shell.Env = append(os.Environ(), "HOME="+p.home)
	if out, err := shell.CombinedOutput(); err != nil {
		p.t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// TestFiles_CanBeStandardInput uses a hyphen in the place of a file.
func TestFiles_CanBeStandardInput(t *testing.T) {
	p := local(t)
	qrels := p.write("qrels.txt", "1 0 a 1\n")
	p.in = "1 Q0 a 1 2 x\n"
	p.says(done, []string{"AP", "1.0000"}, "eval", qrels, "-", "AP")
	p.says(done, []string{"map", "1.0000"}, "eval", "--trec", qrels, "-")
	p.says(done, []string{"Valid."}, "validate", "-")
	p.says(done, []string{`"docid":"a"`}, "convert", "-")
	p.says(done, []string{"1 Q0 a 1"}, "fuse", "-", p.write("run.txt", p.in))
	p.says(failed, []string{"Standard input (-) can stand for one file"}, "eval", "-", "-", "AP")
	p.says(failed, []string{"Standard input (-) can stand for one file"}, "fuse", "-", "-")
	p.in = "1 Q0 a 1 high x\n"
	p.says(fileRefused, []string{`-:1: error: the score "high"`}, "validate", "-")
	p.in = `{"1": {"a": 2.5}}`
	p.says(fileRefused, []string{"assay convert - --from json --to trec-run -o run.trec.txt"}, "validate", "-")
	p.says(done, []string{"1 Q0 a 0 2.5 run"}, "convert", "-")
}
