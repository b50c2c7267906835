package main

import (
	"strings"
	"testing"
)

// TestAdvisedConversions_Read runs each command of assay convert that assay eval advises, and evaluates the converted file. Files that
// assay convert cannot heal get no such command.
func TestAdvisedConversions_Read(t *testing.T) {
	const hits = `{"label":"x","score":0.98}` + "\n" + `{"label":"y","score":0.5}` + "\n"
	const sets = "id,labels\n1,x|y\n2,y\n"
	p := local(t)
	program := built(t, "local/cli")
	t.Chdir(p.folder)
	truths := map[string]string{"Accuracy": "id,label\n1,x\n2,y\n", "HammingLoss": sets, "AP": "1 0 a 1\n1 0 b 0\n",
		"BLEU": `{"id":"1","text":"a b"}` +
			"\n" + `{"id":"2","text":"a c"}` + "\n", "ARI": `{"id":"1","cluster":"x"}` + "\n" + `{"id":"2","cluster":"y"}` + "\n"}
	for name, c := range map[string]struct {
		measure, run string
		fault        string // of files without a command
	}{
		"JSON lines":              {"Accuracy", `{"id":"1","label":"x"}` + "\n" + `{"id":"2","label":"y"}` + "\n", ""},
		"an array":                {"Accuracy", `[{"id":"1","label":"x"},{"id":"2","label":"y"}]`, ""},
		"hits without ids":        {"Accuracy", hits, "write a line for each item, with its id"},
		"an array without ids":    {"Accuracy", "[" + strings.Replace(strings.TrimSpace(hits), "\n", ",", 1) + "]", "the file is JSON"},
		"a column without ids":    {"Accuracy", "label,score\nx,0.98\ny,0.5\n", "write the id of its item into each line"},
		"a column for each label": {"HammingLoss", "id,x,y\n1,1,1\n2,0,1\n", ""},
		"a ranking by topic":      {"AP", `{"1":["a","b"]}`, ""},
		"scores by topic":         {"AP", `{"1":{"a":2.5,"b":1}}`, ""},
		"a list in lines":         {"AP", `{"qid":"1","docs":["a","b"]}` + "\n", "write a line with these fields for each document of a topic"},
		"two texts":               {"BLEU", `{"1":"a b","2":"a c"}`, ""},
		"clusters of two":         {"ARI", `{"c1":["1"],"c2":["2"]}`, "write a line for each id"},
	} {
		t.Run(name, func(t *testing.T) {
			truth := p.write("truth", truths[c.measure])
			said, command, advised := strings.Cut(p.want(fileRefused, "eval", truth, p.write("run.x", c.run), c.measure), "Try: ")
			if advised == (c.fault != "") || !strings.Contains(said, c.fault) {
				t.Fatalf("%s\n%s", said, command)
			}
			if !advised {
				return
			}
			p.paste(program, command)
			converted := strings.TrimSpace(command[strings.LastIndex(command, " -o ")+4:])
			p.says(done, []string{c.measure}, "eval", truth, converted, c.measure)
		})
	}
}
