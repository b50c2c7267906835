package conversion_test

import (
	"strings"
	"testing"

	"assay/functions/tools/conversion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

const (
	wantRun   = "q1 Q0 d1 1 2.5 run\nq1 Q0 d2 2 1.5 run\n"
	unranked  = "q1 Q0 d1 0 2.5 run\nq1 Q0 d2 0 1.5 run\n"
	unscored  = "q1 Q0 d1 1 -1 run\nq1 Q0 d2 2 -2 run\n"
	wantQrels = "q1 0 d1 2\nq1 0 d2 0\n"
)

// TestForeign_IsRecognizedAndConverted recognizes files of other programs, and converts them to the format of TREC without a fault.
func TestForeign_IsRecognizedAndConverted(t *testing.T) {
	for name, c := range map[string]struct {
		kind    *conversion.Kind
		from    conversion.Format
		content string
		want    string
	}{
		"PyTerrier": {conversion.Runs, conversion.CSV, ",qid,docid,docno,rank,score,query\n0,q1,17,d1,1,2.5,a lake\n1,q1,3,d2,2,1.5,a lake\n",
			wantRun},
		"ir_datasets":              {conversion.Runs, conversion.CSV, "query_id\tdoc_id\tscore\nq1\td1\t2.5\nq1\td2\t1.5\n", unranked},
		"a spreadsheet":            {conversion.Runs, conversion.CSV, "\ufeffQID;DocNo;Rank;Score\r\nq1;d1;1;2,5\r\nq1;d2;2;1,5\r\n", wantRun},
		"columns without names":    {conversion.Runs, conversion.CSV, "q1,Q0,d1,1,2.5,run\nq1,Q0,d2,2,1.5,run\n", wantRun},
		"semicolons without them":  {conversion.Runs, conversion.CSV, "q1;Q0;d1;1;2,5;run\nq1;Q0;d2;2;1,5;run\n", wantRun},
		"MS MARCO":                 {conversion.Runs, conversion.MSMARCO, "q1\td1\t1\nq1\td2\t2\n", unscored},
		"MS MARCO with scores":     {conversion.Runs, conversion.MSMARCO, "q1\td1\t2.5\nq1\td2\t1.5\n", unranked},
		"ColBERT":                  {conversion.Runs, conversion.MSMARCO, "q1\td1\t1\t2.5\nq1\td2\t2\t1.5\n", wantRun},
		"ranks without scores":     {conversion.Runs, conversion.CSV, "qid,docno,rank\nq1,d1,1\nq1,d2,2\n", unscored},
		"pytrec_eval":              {conversion.Runs, conversion.JSON, `{"q1": {"d1": 2.5, "d2": 1.5}}`, unranked},
		"lists of documents":       {conversion.Runs, conversion.JSON, `{"q1": ["d1", "d2"], "q2": []}`, unscored},
		"texts instead of numbers": {conversion.Runs, conversion.JSON, `{"q1": {"d1": "2.5", "d2": "1.5"}}`, unranked},
		"ranx over lines":          {conversion.Runs, conversion.JSON, "{\n \"q1\": {\n  \"d1\": 2.5,\n  \"d2\": 1.5\n }\n}\n", unranked},
		"a list of objects": {conversion.Runs, conversion.JSON, `[{"qid":"q1","docno":"d1","rank":1,"score":2.5},` +
			`{"qid":"q1","docno":"d2","rank":2,"score":1.5}]`, wantRun},
		"a list over lines": {conversion.Runs, conversion.JSON, "[\n {\n \"query_id\": \"q1\",\n \"doc_id\": \"d1\",\n \"score\": 2.5},\n" +
			` {"query_id":"q1","doc_id":"d2","score":1.5}]`, unranked},
		"JSON lines": {conversion.Runs, conversion.JSONL, `{"qid":"q1","docid":4,"docno":"d1","score":2.5}` + "\n" +
			`{"qid":"q1","docno":"d2","docid":4,"score":1.5}` + "\n", unranked},
		"qrels of BEIR":             {conversion.Qrels, conversion.BEIR, "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n", wantQrels},
		"qrels of BEIR with commas": {conversion.Qrels, conversion.CSV, "query-id,corpus-id,score\nq1,d1,2\nq1,d2,0\n", wantQrels},
		"qrels of PyTerrier":        {conversion.Qrels, conversion.CSV, "qid,docno,label\nq1,d1,2\nq1,d2,0\n", wantQrels},
		"qrels of ir_datasets": {conversion.Qrels, conversion.CSV, "query_id,doc_id,relevance,iteration\nq1,d1,2,0\nq1,d2,0,0\n",
			wantQrels},
		"qrels of pytrec_eval":           {conversion.Qrels, conversion.JSON, `{"q1": {"d1": 2, "d2": 0}}`, wantQrels},
		"qrels of three columns":         {conversion.Qrels, conversion.MSMARCO, "q1\td1\t2\nq1\td2\t0\n", wantQrels},
		"qrels with commas and no names": {conversion.Qrels, conversion.CSV, "q1,0,d1,2\nq1,0,d2,0\n", wantQrels},
	} {
		t.Run(name, func(t *testing.T) {
			kind, from, ok := conversion.Recognize(c.kind, []byte(c.content))
			if !ok || kind != c.kind || from != c.from {
				t.Errorf("recognized as %q, %v", from, ok)
			}
			var out strings.Builder
			diagnostics, err := c.kind.Convert(t.Context(), &out, c.from, c.kind.Formats[0], measuretest.File("f", c.content))
			if err != nil || measure.HasErrors(diagnostics) || out.String() != c.want {
				t.Errorf("%v, %v, got\n%swant\n%s", measuretest.Lines(diagnostics), err, out.String(), c.want)
			}
		})
	}
	for _, own := range []string{"", "1 Q0 d 1 2.5 x\n", "1 0 d 1\n", "1 0 17 1\n", "1 Q0 a,b 1 2.5 x\n", "id,label\n1,a\n", `{"id":"1","label":"a"}`,
		`{"value":{"a":0.5},"id":"1"}`, `{"id":1,"value":{"a":0.5}}`, "[1,2]", "{", "query,document,label\na,b,1\n", "a B-PER\n", "x y z\n",
		"<html>\n", `{"1":{"a":0.5}}` + "\n" + `{"2":{"a":0.5}}`} {
		if _, from, ok := conversion.Recognize(nil, []byte(own)); ok {
			t.Errorf("%q is recognized as %s", own, from)
		}
	}
	dictionaries := map[string]*conversion.Kind{`{"1": ["a", "b"], "2": []}`: conversion.Runs, `{"1": {"a": "2.5"}}`: conversion.Runs}
	for text, kind := range dictionaries {
		if _, _, ok := conversion.Recognize(nil, []byte(text)); ok {
			t.Errorf("%s is recognized", text)
		}
		if found, from, ok := conversion.Recognize(kind, []byte(text)); !ok || found != kind || from != conversion.JSON {
			t.Errorf("%s is recognized as %v, %s, %v", text, found, from, ok)
		}
	}
	if _, _, ok := conversion.Recognize(conversion.Qrels, []byte(`{"1": ["a", "b"]}`)); ok {
		t.Error("lists without grades are recognized as judgments")
	}
	for _, own := range []string{"1 Q0 d 1 2.5 x\n", "1 0 17 1\n", `{"labels":["a"],"id":"1"}`, `{"id":"1","text":"a"}`} {
		if _, from, ok := conversion.Recognize(conversion.Runs, []byte(own)); ok {
			t.Errorf("%q is recognized as a run in the format %s", own, from)
		}
	}
	for text, whole := range map[string]*conversion.Kind{`{"1":{"a":1}}`: conversion.Qrels, `{"1":{"a":1.0`: conversion.Runs} {
		if kind, from, ok := conversion.Recognize(nil, []byte(text)); !ok || kind != whole || from != conversion.JSON {
			t.Errorf("%s is recognized as %v, %s, %v", text, kind, from, ok)
		}
	}
}

// TestFormOfJSON_IgnoresWhatFollows reads files that begin like JSON as JSON. Their faults are then faults of JSON.
func TestFormOfJSON_IgnoresWhatFollows(t *testing.T) {
	for text, want := range map[string]conversion.Format{
		`{"1": ["a"]}`: conversion.JSON, "{\n \"1\": true\n}": conversion.JSON, `[[{"a": 1}]]`: conversion.JSON, "{}": conversion.JSON,
		"{\"1\": {\"a\": 1}}\n{\"2\": {}}\n": conversion.JSONL, "1 Q0 a 1 2.5 x\n": "", "{'1': 2}": "", "{a Q0 b 1 2.5 x\n": "", "": "",
	} {
		if got, ok := conversion.FormOfJSON([]byte(text)); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", text, got, ok, want)
		}
	}
}

// TestForeign_ReportsFaults converts damaged files of other programs.
func TestForeign_ReportsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		kind    *conversion.Kind
		from    conversion.Format
		content string
		want    []string
	}{
		"a text in a dictionary": {conversion.Runs, conversion.JSON, `{"q1":{"d1":"high","d 2":1},"q2":7,"q3":[null]}`, []string{
			`f error: topic "q1": the score "high" is not a number; write it like 12.5 or 1.25e1`,
			`f error: topic "q1": the docid "d 2" has white space, which the formats of TREC cannot hold; replace it by another character`,
			`f error: topic "q2": expected an object with the score of each document, such as {"doc1": 1}`,
			`f error: topic "q3": document 1 of the list is no string and no number; expected the id of the document`}},
		"another value": {conversion.Qrels, conversion.JSON, `{"q1":{"d1":true}}`, []string{`f error: topic "q1": the grade of "d1" is not a number`}},
		"not a number": {conversion.Runs, conversion.JSON, `{"q1":{"d1":NaN}}`, []string{
			`f error: the file is not valid JSON at byte 11: invalid character 'N' at start of value; JSON has no NaN and no Infinity, and null ` +
				"instead of None"}},
		"an infinite number": {conversion.Runs, conversion.JSON, `{"q1":{"d1":Infinity}}`, []string{
			`f error: the file is not valid JSON at byte 11: invalid character 'I' at start of value; JSON has no NaN and no Infinity`}},
		"curly quotes": {conversion.Runs, conversion.JSON, `{“q1”:{"d1":1}}`, []string{
			`f error: the file is not valid JSON at byte 1: invalid character '“' at start of value; JSON has straight double ` +
				"quotes, and not those of a word processor"}},
		"Python": {conversion.Runs, conversion.JSON, `{'q1':{"d1":1}}`, []string{
			`f error: the file is not valid JSON at byte 1: invalid character '\'' at start of value; JSON has double quotes, so ` +
				"write it with json.dump and not with print or str"}},
		"another fault": {conversion.Runs, conversion.JSON, `{"q1" 1}`, []string{
			`f error: the file is not valid JSON at byte 5: invalid character '1' after object name (expecting ':')`}},
		"a dictionary that is cut": {conversion.Qrels, conversion.JSON, `{"q1":{"d1":1,`, []string{
			`f error: the file ends within its JSON text; it was probably cut short, so write it again`}},
		"lines instead": {conversion.Runs, conversion.JSON, `{"q1":{"d1":1}}` + "\n{}", []string{
			"f error: text follows the JSON value of the file; if each line is an object, the format is jsonl"}},
		"a number": {conversion.Runs, conversion.JSON, "17", []string{
			"f error: the file is not one JSON object or array; expected an object with the documents of each topic, or an array of objects"}},
		"nothing": {conversion.Runs, conversion.JSON, "", []string{"f error: the file is empty or has no lines of runs; expected one for each " +
			"document"}},
		"an archive": {conversion.Runs, conversion.JSON, "PK\x03\x04", []string{
			"f error: the file is a zip archive, or a spreadsheet such as .xlsx; send it as plain UTF-8 text, or that text compressed with gzip"}},
		"objects without a name": {conversion.Runs, conversion.JSON, `[{"docno":"d1","score":1},3]`, []string{
			`f error: object 1 of the array: the object has no "topic"; expected it in every line`,
			"f error: object 2 of the array: it is no object; expected one with topic, docid, rank, score, tag"}},
		"other numbers of columns": {conversion.Runs, conversion.MSMARCO, "q1\td1\t1\nq1\td2\nq1\td2\t2\t3\t4\n", []string{
			"f:1 warning: the file has no scores, so each document gets the score -rank, here and in any other line",
			"f:2 error: the line has 2 fields; expected topic, document and rank or score, in each line alike",
			"f:3 error: the line has more than 4 fields; expected topic, document and rank or score, in each line alike"}},
		"a rank that is no number": {conversion.Runs, conversion.CSV, "qid,docno,rank\nq1,d1,first\n", []string{
			`f:2 error: there is no score, and the rank "first" is not a number that could take its place`}},
		"a name twice": {conversion.Runs, conversion.CSV, "qid,docno,docno,score\n", []string{
			`f:1 error: the first line names the field "docno" twice; expected it once`}},
	} {
		t.Run(name, func(t *testing.T) {
			diagnostics, err := c.kind.Convert(t.Context(), new(strings.Builder), c.from, conversion.CSV, measuretest.File("f", c.content))
			if err != nil {
				t.Error(err)
			}
			measuretest.Expect(t, diagnostics, c.want...)
		})
	}
	long := `{"q1":{"` + strings.Repeat("x", 6<<20) + `":1}}`
	var out strings.Builder
	diagnostics, err := conversion.Runs.Convert(t.Context(), &out, conversion.JSON, conversion.CSV, measuretest.File("f", long))
	if err != nil || len(diagnostics) != 1 || !strings.Contains(diagnostics[0].Message, "a name or value of the file is longer than") {
		t.Errorf("%v, %v", measuretest.Lines(diagnostics), err)
	}
}
