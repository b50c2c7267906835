package main

import (
	"strings"
	"testing"
)

// TestEval_NamesTheCauseOfWrongFiles evaluates files as other programs and mistakes leave them. Each message says how to heal the file.
func TestEval_NamesTheCauseOfWrongFiles(t *testing.T) {
	const utf16 = "\xff\xfeq\x00i\x00d\x00\t\x00d\x00o\x00c\x00n\x00o\x00"
	const fromJSON = "--kind text --from json --id id --value text --to jsonl --to-id id --to-value text -o "
	p := local(t)
	truths := map[string]string{"AP": "1 0 a 1\n1 0 b 0\n", "Accuracy": "id,label\n1,x\n2,y\n", "RMSE": "id,value\n1,1.5\n2,2\n",
		"ARI": "id,cluster\n1,x\n2,y\n", "BLEU": `{"id":"1","text":"a b"}` + "\n", "AUC": "id,label\n1,no\n2,yes\n",
		"Brier":             "id,label\n1,no\n2,yes\n3,yes\n",
		"F1(average=micro)": "EU B-ORG\n\nPeter B-PER\n", "HammingLoss": `{"id":"1","labels":["a","b"]}` + "\n"}
	for name, c := range map[string]struct {
		code               int
		measure, run, want string
	}{
		"UTF-16":                 {fileRefused, "AP", utf16, "iconv -f UTF-16 -t UTF-8"},
		"no rank":                {fileRefused, "AP", "1 Q0 a 2.5 x\n", "the rank seems to be missing"},
		"no score":               {fileRefused, "AP", "1 Q0 a 1 x\n1 Q0 b 2 x\n1 Q0 c 3 x\n", "the score seems to be missing"},
		"no Q0":                  {fileRefused, "AP", "1 a 1 2.5 x\n1 b 2 1.5 x\n", "Q0 seems to be missing: write it after the topic"},
		"quotes of R":            {fileRefused, "AP", "1 \"Q0\" \"a\" 1 2.5 \"x\"\n", "stand in quotes"},
		"row names of R":         {fileRefused, "AP", "\"1\" 1 \"Q0\" \"a\" 1 2.5 \"x\"\n", "a field too many seems to stand before the topic"},
		"a dictionary of Python": {fileRefused, "AP", "{'1': {'a': 2.5, 'b': 1.5, 'c': 1, 'd': 0.5}}\n", "a dictionary or list of Python"},
		"texts for rankings":     {fileRefused, "AP", "{\"id\":\"1\",\"text\":\"a b c d e f g\"}\n", "the line is JSON"},
		"base64":                 {fileRefused, "AP", "MSBRMCBhIDEgMi41IHgKMSBRMCBiIDIgMS41IHgKMSBRMCBjIDMgMC41IHgK\n", "base64 -d"},
		"a printed table":        {fileRefused, "BLEU", "  id text\n[30 rows x 2 columns]\n", "a table that pandas printed"},
		"no tag":                 {fileRefused, "AP", "1 Q0 a 1 2.5\n", "the tag, which is the name of the run, seems to be missing"},
		"query and document":     {fileRefused, "AP", "a Q0 1 1 2.5 x\n", "the first field of the run has documents and the third one topics"},
		"rank and score":         {done, "AP", "1 Q0 a 9.5 1 x\n1 Q0 b 8.5 2 x\n1 Q0 c 7.5 3 x\n1 Q0 d 6.5 4 x\n", "rank and score seem"},
		"rank and score of few":  {done, "AP", "1 Q0 a 3.5 1 x\n1 Q0 b 2.5 2 x\n1 Q0 c 1.2 3 x\n", "rank and score seem to be swapped"},
		"a web page":             {fileRefused, "AP", "\n<!DOCTYPE HTML>\n<title>Sign in</title>\n", "the file is a web page (HTML)"},
		"a pointer":              {fileRefused, "AP", "version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
		"a conflict":             {fileRefused, "Accuracy", "<<<<<<< HEAD\nid,label\n", "merge conflict"},
		"a cut line":             {fileRefused, "AP", "1 Q0 a 1 2.5 x\n1 Q0 b", "the file ends within this line"},
		"a header":               {fileRefused, "AP", "qid Q0 docno rank score tag\n1 Q0 a 1 2.5 x\n", "the line seems to name the fields"},
		"an index":               {fileRefused, "Accuracy", ",label\n1,x\n2,y\n", `as pandas writes an index: name it "id"`},
		"no names":               {fileRefused, "Accuracy", "1,x\n2,y\n", "write a line with the names of the fields before it"},
		"spaces":                 {fileRefused, "Accuracy", "id label\n1 x\n2 y\n", "spaces separate no fields"},
		"exchanged columns":      {fileRefused, "Accuracy", "label,id\n1,x\n2,y\n", `the field "id" has values of the field "label"`},
		"documents of clusters":  {fileRefused, "ARI", "id,cluster\nz,1\nz,2\n", `the field "id" has values of the field "cluster"`},
		"exchanged clusters":     {fileRefused, "ARI", "cluster,id\n1,x\n2,y\n", `the field "id" has values of the field "cluster"`},
		"a decimal comma":        {fileRefused, "RMSE", "id;value\n1;1,5\n2;2\n", "write 1.5"},
		"texts without ids":      {fileRefused, "BLEU", "The lake is deep.\nThe sea is very cold.\n", "write such an object for each text"},
		"sentences": {fileRefused, "Accuracy", "The lake is deep.\nThe sea is very cold.\n",
			"before each text the id of its item and a comma"},
		"an archive":               {fileRefused, "RMSE", "PK\x03\x04", "or a spreadsheet such as .xlsx"},
		"an array":                 {fileRefused, "BLEU", `[{"id":"1","text":"a"}]`, fromJSON},
		"an array over lines":      {fileRefused, "BLEU", "[\n {\"id\":\"1\",\"text\":\"a\"}\n]\n", fromJSON},
		"a dictionary":             {fileRefused, "BLEU", `{"1":"a","2":"b","3":"c"}`, fromJSON},
		"Python":                   {fileRefused, "BLEU", "{'id': '1', 'text': 'a'}\n", "JSON has double quotes"},
		"a literal of Python":      {fileRefused, "BLEU", `{"id": "1", "text": None}` + "\n", "JSON has null, true and false"},
		"no number":                {fileRefused, "BLEU", `{"id": "1", "text": NaN}` + "\n", "JSON has no NaN and no Infinity"},
		"an object over lines":     {fileRefused, "BLEU", "{\n\"id\": \"1\",\n", "an object over several lines has to be on one"},
		"texts":                    {fileRefused, "BLEU", "a b\n", `expected an object like {"id": ..., "text": ...}`},
		"labels instead of scores": {fileRefused, "AUC", "id,label\n1,no\n2,yes\n", "expected a score and not a label"},
		"other members":            {fileRefused, "ARI", `{"cluster":"x","members":["1"]}` + "\n", "the file is JSON; expected csv"},
		"a header twice":           {fileRefused, "Accuracy", "id,label\n1,x\nid,label\n2,y\n", "the line repeats the names of the fields"},
		"thousands":                {fileRefused, "RMSE", "id,value\n1,\"1,000.5\"\n2,2\n", "write 1000.5"},
		"percentages":              {fileRefused, "RMSE", "id,value\n1,150%\n2,2\n", "leave out % and divide by 100, unless all files"},
		"percentages of scores": {fileRefused, "AUC", "id,label\n1,61.7%\n2,50%\n",
			`"61.7%"; expected a finite decimal number such as 0.75; leave out % and divide by 100`},
		"logits": {fileRefused, "Brier", "id,label\n1,-1.6\n2,0.4\n3,2.5\n", "run: error: 2 of 3 scores are below 0 or above 1"},
		"percentages of probabilities": {fileRefused, "Brier", "id,no,yes\n1,10,90\n2,1,99\n3,60.5,39.5\n",
			"run: error: 5 of 6 scores are above 1 and none is above 100"},
		"predict_proba": {fileRefused, "Brier", ",0,1\n1,0.25,0.75\n", `name it "id", and each other column like its label`},
		"labels in two brackets": {fileRefused, "HammingLoss", `{"id":"1","labels":[["a","b"]]}` + "\n",
			`an element of "labels" is an array; expected a string or number or true or false; write it without its brackets`},
		"lists of members":   {fileRefused, "ARI", "[\"1\"]\n[\"2\",\"3\"]\n", "write a line for each item, with its id and its value"},
		"no finite score":    {fileRefused, "AP", "1 Q0 a 1 nan x\n", "is not a finite number; write one such as 12.5, or leave the line out"},
		"curly quotes":       {fileRefused, "BLEU", "{\u201cid\u201d: 1}\n", "invalid character '\u201c'"},
		"clusters with ids":  {fileRefused, "ARI", "{\"x\":[\n\"1\"],\"y\":[\"2\"],\"z\":[]}", "expected one cluster for each id"},
		"labels for numbers": {fileRefused, "RMSE", "id,label\n1,x\n2,y\n", `"label" is "x"; expected a number`},
		"columns of labels":  {fileRefused, "HammingLoss", "id,a,b\n1,1,0\n", "--from csv --id id --value labels --to jsonl"},
		"a list of Python":   {fileRefused, "HammingLoss", "id,labels\n1,['a']\n", "is a list as Python prints it; join its labels with |"},
		"a form of pandas":   {fileRefused, "BLEU", `{"id":{"0":"1"},"text":{"0":"a b"}}`, `to_json(FILE, orient="records", lines=True)`},
		"a split form of pandas": {fileRefused, "BLEU", `{"columns":["id"],"index":[0],"data":[["1"]]}`,
			`to_json(FILE, orient="records", lines=True)`},
		"a line for Excel":         {fileRefused, "RMSE", "sep=;\nid;value\n1;1,5\n2;2\n", "for a spreadsheet; delete it"},
		"other fields in CSV":      {fileRefused, "BLEU", "row,guess,p\n1,a,0.5\n", "it looks like CSV: convert it to JSON lines"},
		"a form of pandas for csv": {fileRefused, "Accuracy", `{"id":{"0":"1"},"label":{"0":"x"}}`, "to_csv(FILE, index=False)"},
		"Python for csv":           {fileRefused, "Accuracy", "{'id': '1', 'label': 'x'}\n", "a dictionary or list of Python"},
		"clusters of PAN":          {fileRefused, "ARI", "[\n [\n  {\"document\": \"1\"}\n ]\n]\n", "echo id,cluster; jq -r"},
		"write.table of R":         {fileRefused, "Accuracy", "\"id\" \"label\"\n\"1\" \"1\" \"x\"\n", "row.names = FALSE"},
		"lines in quotes":          {fileRefused, "Accuracy", "\"id,label\"\n\"1,x\"\n", "each stand in quotes"},
		"row names in csv":         {fileRefused, "Accuracy", "\"id\",\"label\"\n\"1\",\"1\",\"x\"\n", "row.names = FALSE"},
		"tabs below commas":        {fileRefused, "Accuracy", "id,label\n1\tx\n2\ty\n", "separate all lines by the same character"},
		"numbers without ids":      {fileRefused, "ARI", "0.0e+00\n1.0e+00\n", "write the id before each value"},
		"commas after lines":       {fileRefused, "BLEU", "{\"id\":\"1\",\"text\":\"a b\"},\n", "sed 's/,$//' does"},
		"a report":                 {fileRefused, "Accuracy", "  precision recall  f1-score   support\n x 1 1 1\n", "a classification report"},
		"annotations of brat":      {fileRefused, "F1(average=micro)", "T1\tPER 0 5\tPeter\n", "annotations of brat"},
		"tokens with tags":         {fileRefused, "Accuracy", "EU B-ORG\nsays O\n\nPeter B-PER\n", "the file is CoNLL"},
		"tokens below names":       {fileRefused, "Accuracy", "id,value\nEU B-ORG\nsays O\n\nPeter B-PER\n", "the file is CoNLL"},
		"tokens for clusters":      {fileRefused, "ARI", "EU B-ORG\nsays O\n\nPeter B-PER\n", "the file is CoNLL"},
		"tokens for texts":         {fileRefused, "BLEU", "EU B-ORG\nsays O\n\nPeter B-PER\n", "the file is CoNLL"},
		"a pickle":                 {fileRefused, "Accuracy", "\x80\x04\x95", "the file is a pickle of Python; send it as plain UTF-8 text"},
		"a saved array":            {fileRefused, "Accuracy", "\x93NUMPY\x01\x00", "the file is a saved array of NumPy"},
		"a missing token":          {fileRefused, "F1(average=micro)", "EU\tB-ORG\n\n\tB-PER\n", "keep_default_na=False"},
		"rich text":                {fileRefused, "Accuracy", "{\\rtf1\\ansi\nid,label\n", "save it as plain text"},
		"XML":                      {fileRefused, "Accuracy", "<?xml version=\"1.0\"?>\n<a/>\n", "the file is XML"},
		"bars":                     {fileRefused, "Accuracy", "id|label\n1|x\n", "separated by bars (|)"},
		"a tar archive":            {fileRefused, "Accuracy", "run.csv" + strings.Repeat("\x00", 250) + "ustar", "tar -xOf ARCHIVE"},
		"another minus":            {fileRefused, "RMSE", "id,value\n1,\u22121.5\n2,2\n", "write -1.5"},
		"quoted tags":              {fileRefused, "F1(average=micro)", "\"EU\" \"B-ORG\"\n\n\"Peter\" \"B-PER\"\n", "without quotes, as R does"},
		"types without a prefix":   {fileRefused, "F1(average=micro)", "EU ORG\n\nPeter PER\n", "B, I, E, S, L or U with a hyphen and a type"},
	} {
		t.Run(name, func(*testing.T) {
			truth := p.write("truth", truths[c.measure])
			p.says(c.code, []string{c.want}, "eval", truth, p.write("run", c.run), c.measure)
		})
	}
}

// TestEval_SaysWhichParametersF1Needs evaluates labels, sets, tags and spans by F1 without parameters, which is a measure of probabilities.
func TestEval_SaysWhichParametersF1Needs(t *testing.T) {
	const span = `{"id":"1","spans":[{"start":0,"end":4,"type":"PER"}]}` + "\n"
	p := local(t)
	for kind, c := range map[string]struct{ truth, want string }{
		"classification": {"id,label\n1,no\n2,yes\n", "F1 needs exactly one of average, positive: F1(average=macro) or F1(positive=LABEL)"},
		"multilabel":     {`{"id":"1","labels":["a"]}` + "\n", "F1 needs exactly one of average, positive"},
		"conll":          {"EU B-ORG\n\nPeter B-PER\n", "F1 needs exactly one of average, type: F1(average=macro) or F1(type=LABEL)"},
		"spans":          {span, "F1 needs exactly one of average, type"},
	} {
		if kind == "conll" {
			kind = "spans"
		}
		file := p.write("file", c.truth)
		p.says(failed, []string{c.want, "The files look like " + kind + ".", "--kind probabilities reads"}, "eval", file, file, "F1")
	}
	truth := p.write("truth", "id,label\n1,no\n2,yes\n")
	for _, scores := range []string{"id,label\n1,0\n2,0.75\n", "id,no,yes\n1,0.75,0.25\n2,0.25,0.75\n"} {
		p.says(done, []string{"F1", "1.0000"}, "eval", truth, p.write("run", scores), "F1")
	}
}

// TestItems_WithoutNamesAreNoNames reads tables without names of fields, whose first item would otherwise be taken for names.
func TestItems_WithoutNamesAreNoNames(t *testing.T) {
	const missing = "write a line with the names of the fields before it"
	p := local(t)
	run := p.write("run", "id,label\n1,a\n2,b\n3,a\n")
	for _, items := range []string{
		"1,a\n2,b\n3,a\n", "x1,a\nx2,b\nx3,a\n", "1;a\n2;b\n", "x1,1.5\nx2,2.5\n", "x1,the cat sat on the mat\nx2,yes\n",
	} {
		truth := p.write("truth", items)
		p.says(fileRefused, []string{"truth:1: error", missing, "The first line is separated by"}, "eval", truth, truth)
		p.says(fileRefused, []string{"truth:1: error", missing}, "validate", truth)
		p.says(fileRefused, []string{"truth:1: error", missing}, "eval", truth, run, "Accuracy")
	}
	truth := p.write("truth", "1,a\n2,b\n3,a\n")
	p.says(fileRefused, []string{missing}, "convert", truth, "--kind", "classification")
	p.says(done, []string{"1.0000"}, "eval", truth, truth, "Accuracy", "--id", "1", "--value", "a")
	p.says(done, []string{"Valid."}, "validate", p.write("names", "name,colour\nx1,red\nx2,green\n"))
}

// TestEval_SaysHowToWriteNumbersInJSON evaluates numbers in JSON lines with a decimal comma, with quotes and without them.
func TestEval_SaysHowToWriteNumbersInJSON(t *testing.T) {
	p := local(t)
	truth := p.write("truth", `{"id":"1","value":1.5}`+"\n")
	for value, want := range map[string]string{`"1,5"`: "numbers have a point and no comma: write 1.5, without quotes",
		"1,5": "numbers have a point and no comma: write 1.5", `"1.5"`: "write it without quotes"} {
		p.says(fileRefused, []string{want}, "eval", truth, p.write("run", `{"id":"1","value":`+value+"}\n"), "RMSE")
	}
}

// TestValidate_NamesTheCauseOfWrongFiles validates files whose fault shows without a truth.
func TestValidate_NamesTheCauseOfWrongFiles(t *testing.T) {
	p := local(t)
	for name, c := range map[string]struct {
		code            int
		kind, run, want string
	}{
		"exchanged clusters": {fileRefused, "clustering", "id,cluster\nx,1\nx,2\nx,3\n",
			`no value of "cluster" comes twice: exchange "id" and "cluster" if "cluster" has the ids`},
		"a list of Python": {done, "multilabel", "id,label\n1,\"['joy', 'fear']\"\n2,['joy']\n",
			`"['joy', 'fear']" is a list as Python prints it: write the labels with "|" between them`},
		"another separator": {done, "multilabel", "id,label\n1,\"joy,fear\"\n2,joy\n",
			`labels such as "joy,fear" contain ",", and no item has "|", which separates labels: write "|" between labels`},
		"offsets as texts": {fileRefused, "spans", `{"id":"1","spans":[{"start":"0","end":"4"}]}` + "\n",
			`"start" is the text "0"; expected a number: write 0 without quotes`},
		"an offset that is no number": {fileRefused, "spans", `{"id":"1","spans":[{"start":"a","end":"4"}]}` + "\n",
			`"start" is the text "a"; expected a whole number`},
		"a length for the end": {fileRefused, "spans", `{"id":"1","spans":[{"start":10,"end":4}]}` + "\n",
			"the span of only the first character begins at 0 and ends at 1"},
		"an index before probabilities": {fileRefused, "probabilities", ",0,1\n0,0.1,0.9\n", `name it "id"`},
		"labels with commas":            {done, "multilabel", "id,label\n1,\"Paris, Texas\"\n2,Rome\n", "Valid.\n"},
		"labels in words":               {done, "multilabel", "id,label\n1,New York\n2,New Jersey\n", "Valid.\n"},
		"labels and some commas":        {done, "multilabel", "id,label\n1,\"joy,fear\"\n2,joy|hope\n", "Valid.\n"},
	} {
		t.Run(name, func(*testing.T) {
			p.says(c.code, []string{c.want}, "validate", p.write("run", c.run), "--kind", c.kind)
		})
	}
}

// TestEval_WarnsOfAnotherUnit evaluates numbers in another unit than the truth's, and numbers that are only far off.
func TestEval_WarnsOfAnotherUnit(t *testing.T) {
	p := local(t)
	truth := p.write("truth", "id,value\na,1.5\nb,2.5\nc,4\nd,0\n")
	p.says(done, []string{"each prediction is about 100 times the true number, for all 3 items"}, "eval", truth,
		p.write("percent", "id,value\na,100\nb,250\nc,350\nd,0\n"), "MAE")
	p.says(done, []string{"each prediction is about a hundredth of the true number"}, "eval", truth,
		p.write("fractions", "id,value\na,0.015\nb,0.02\nc,0.04\nd,0\n"), "MAE")
	for _, values := range []string{"a,100\nb,250\nc,350\nd,1\n", "a,100\nb,2.5\nc,350\nd,0\n", "a,-150\nb,-250\nc,-400\nd,0\n"} {
		if got := p.want(done, "eval", truth, p.write("run", "id,value\n"+values), "MAE"); strings.Contains(got, "the likely cause") {
			t.Errorf("%q is warned of: %s", values, got)
		}
	}
}

// TestValidate_GuessesTheKindOfWrongFiles validates files without a kind, which their values and the names of their fields tell.
func TestValidate_GuessesTheKindOfWrongFiles(t *testing.T) {
	p := local(t)
	for _, c := range []struct {
		code      int
		run, want string
	}{
		{fileRefused, ",0,1\n0,0.1,0.9\n1,0.4,0.6\n", `name it "id"`},
		{done, "id,neg,pos\na,0.1,0.9\nb,1,0\n", "for probabilities"},
		{done, "id,x,y\na,0,1\nb,1,0\n", "for classification"},
		{done, "id,height,width\na,0.1,0.9\nb,0.5,0.25\n", "for regression"},
		{done, "id,labels\n1,\"['x', 'y']\"\n2,['x']\n", `write the labels with "|" between them`},
		{done, "id,labels\n1,x\n2,x|y\n", "for multilabel"},
		{done, "id,labels\n1,x\n2,y\n", "for classification"},
		{done, "id,label\n1,x\n2,['x']\n", "for classification"},
		{fileRefused, `{"id":"1","spans":[[0,4,"PER"]]}` + "\n", `expected an object like {"start": 0, "end": 4, "type": "PER"}`},
		{fileRefused, `{"id":"1","spans":[["PER",0,4]]}` + "\n", "for spans"},
		{fileRefused, `{"id":"1","spans":[{"start":"0","end":"4","type":"PER"}]}` + "\n", "for spans"},
		{done, `{"id":"1","tags":["a","b","c"]}` + "\n", "for multilabel"},
	} {
		p.says(c.code, []string{c.want}, "validate", p.write("run", c.run))
	}
}

// TestEval_NamesTheCauseOfWrongQrels evaluates a correct run with qrels whose first field has the documents, and whose ids have spaces.
func TestEval_NamesTheCauseOfWrongQrels(t *testing.T) {
	p := local(t)
	qrels := p.write("qrels", "d1 0 q1 1\nd2 0 q1 0\nd3 0 q2 1\n")
	run := p.write("run", "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq2 Q0 d3 1 1 t\n")
	p.says(fileRefused, []string{`a space in it ("New York")`}, "eval", p.write("spaces", "1 0 New York 1\n"), run, "AP")
	p.says(fileRefused, []string{"the first field of the truth has documents and the third one topics, so exchange them there"},
		"eval", qrels, run, "AP")
}

// TestConvert_NamesShapesThatItDoesNotRead says how to heal a file that assay convert does not read.
func TestConvert_NamesShapesThatItDoesNotRead(t *testing.T) {
	p := local(t)
	clusters := p.write("clusters.json", "[\n [\n  {\"document\": \"1\"}\n ]\n]\n")
	p.says(fileRefused, []string{"(echo id,cluster; jq -r"}, "convert", "--kind", "clustering", clusters)
	texts := p.write("texts.txt", "The lake is deep.\nThe sea is very cold.\n")
	p.says(fileRefused, []string{"write id,text as the first line, and before each text the id"}, "convert", "--kind", "text", texts)
	members := p.write("members.jsonl", "[\"1\"]\n[\"2\",\"3\"]\n")
	p.says(fileRefused, []string{`the line is an array`, `like {"id": ..., "cluster": ...}; write such an object for each item`}, "convert",
		"--kind", "clustering", members)
	table := p.write("table.json", `{"id":{"0":"1"},"label":{"0":"x"}}`)
	p.says(fileRefused, []string{`to_json(FILE, orient="records", lines=True)`}, "convert", "--kind", "classification", table)
	printed := p.write("printed.csv", "   id label\n0   a     x\n1   b     y\n")
	p.says(fileRefused, []string{"a table that pandas printed", "to_csv(FILE, index=False)"}, "convert", "--kind", "classification", printed)
}

// TestEval_GuessesTheKindFromTheTruth evaluates files whose kind no measure names. The values of the truth and the names of fields tell it.
func TestEval_GuessesTheKindFromTheTruth(t *testing.T) {
	const labels = `{"id":"1","label":"x"}` + "\n"
	const clusters = `{"id":"1","cluster":"x"}` + "\n" + `{"id":"2","cluster":"y"}` + "\n"
	p := local(t)
	truth := p.write("truth", labels)
	p.says(fileRefused, []string{`run:1: error: "label" is an array`, "write it without brackets"}, "eval", truth,
		p.write("run", `{"id":"1","label":["x"]}`))
	for _, c := range []struct{ number, want string }{{"1,660.0", "write 1660.0"}, {"3,45", "write 3.45"}} {
		p.says(fileRefused, []string{"truth:2: error", c.want, "for regression"}, "eval", p.write("truth", "id,value\n1,\""+c.number+"\"\n"),
			p.write("run", "id,value\n1,1650\n"))
	}
	truth = p.write("truth", clusters)
	p.says(done, []string{"for clustering", "ARI"}, "eval", truth, p.write("run", strings.ReplaceAll(clusters, ":\"x", ":\"z")))
	p.says(fileRefused, []string{"--kind clustering", "--to-value cluster"}, "eval", truth,
		p.write("run", strings.ReplaceAll(clusters, "cluster", "label")))
}

// TestEval_SaysWhatIsProbablyWrongWithTheTruth evaluates runs against a truth that a server would warn its organizers of.
func TestEval_SaysWhatIsProbablyWrongWithTheTruth(t *testing.T) {
	p := local(t)
	qrels := p.write("qrels.txt", "1 0 a 0\n2 0 b 0\n")
	eval := []string{"eval", qrels, p.write("run.txt", "1 Q0 a 1 2.0 x\n2 Q0 b 1 2.0 x\n"), "AP"}
	p.says(done, []string{qrels + ": warning: no document is relevant"}, eval...)
	r := p.run(t.Context(), append(eval, "--json")...)
	if report := decode[object](t, r.out).text("truthReport.contents"); !strings.Contains(report, "2 topics, 2 judgments") {
		t.Errorf("the report on the truth is %q", report)
	}
	if got := p.want(done, "eval", p.write("good.txt", "1 0 a 1\n2 0 b 1\n"), eval[2], "AP"); strings.Contains(got, "warning") {
		t.Errorf("a truth without a fault is warned of: %s", got)
	}
}
