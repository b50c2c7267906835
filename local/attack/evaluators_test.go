//go:build attack

package attack

import (
	"fmt"
	"strings"
)

// evaluated is a run and a truth that cost a kind of evaluator much time or memory, or that it refuses late.
type evaluated struct {
	kind, format, value string
	truth, run          string
	measures            []string
}

// numbered repeats a line that has a number in it.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// products returns the names of measures with all pairs of two numbers.
func products(format string, first, second int) (names []string) {
	for i := range first {
		for j := range second {
			names = append(names, fmt.Sprintf(format, i+1, j+1))
		}
	}
	return names
}

// hostileTruths returns files for every kind of evaluator except retrieval. Other scenarios attack retrieval.
func hostileTruths(s *server) []evaluated {
	const long = 64 << 10
	many := pick(s.profile, 20_000, 500_000)
	letters := make([]byte, long-1)
	for i := range letters {
		letters[i] = "abcdefghijklmnopqrstuvwxyz     "[s.random.IntN(31)]
	}
	text := func(value string) string { return `{"id":1,"x":` + value + "}\n" }
	list := func(value string, n int) string { return "[" + strings.Repeat(value+",", n-1) + value + "]" }
	short := `"` + numbered(`a %d\n`, pick(s.profile, 1<<10, 2<<10)) + `"` // equal lines are compared once
	return []evaluated{
		{"text", "jsonl", "x", text(list(short, 10)), text(short), []string{"ROUGELsum", "ROUGELsum(stem=True)"}},
		{"text", "jsonl", "x", text(list(`"`+string(letters)+`"`, 15)), text(`"` + string(letters) + `"`),
			products("chrF(beta=%d,char_order=10,word_order=%d)", 10, 4)},
		{"text", "jsonl", "x", numbered(`{"id":%d,"x":`+list(`""`, 100)+"}\n", many/10), text(`""`), []string{"BLEU"}},
		{"text", "jsonl", "x", text(list(`"\u03a3'"`, 101)), text("[" + repeat("[", long) + repeat("]", long) + "]"), []string{"EM"}},
		{"clustering", "jsonl", "x", numbered(`{"id":%[1]d,"x":%[1]d}`+"\n", 9999), numbered(`{"id":%d,"x":1}`+"\n", 9999),
			append(products("VMeasure(beta=%d.%d)", 5, 9), "VMeasure(beta=0)", "ARI", "BCubedF")},
		{"clustering", "jsonl", "x", numbered(`{"id":%[1]d,"x":%[1]d}`+"\n", many), text("1"), []string{"ARI"}},
		{"classification", "jsonl", "x", numbered(`{"id":%[1]d,"x":%[1]d}`+"\n", 9999), numbered(`{"id":%[1]d,"x":1e%[1]d}`+"\n", 9999),
			[]string{"Kappa(weights=quadratic)", "Kappa(weights=linear)", "MacroMAE", "F(average=weighted,beta=1000)"}},
		{"regression", "jsonl", "x", numbered(`{"id":%d,"x":1.7e308}`+"\n", many), numbered(`{"id":%d,"x":-1.7e308}`+"\n", many),
			[]string{"CCC", "MAPE", "MedianAE", "MSE", "Kendall"}},
		{"multilabel", "jsonl", "x", numbered(`{"id":%d,"x":`+"["+numbered("%d,", 999)+"999]}\n", many/200),
			numbered(`{"id":%d,"x":`+"["+numbered("%d,", 999)+"999]}\n", many/200),
			products("F(average=samples,beta=%d.%d)", 5, 9)},
		{"multilabel", "csv", "x", "id,x\n" + numbered("%d,a|a\n", many), "id,x\n1," + repeat("|", long) + "\n", []string{"HammingLoss"}},
		{"probabilities", "csv", "x", "id,x\n" + numbered("%[1]d,%[1]d\n", 999),
			"id" + numbered(",%d", 999) + "\n" + numbered("%d"+repeat(",1e999", 999*6)+"\n", 200), []string{"AUC(average=macro)"}},
		{"probabilities", "csv", "x", "id,x\n" + numbered("%[1]d,%[1]d\n", 999),
			"id" + numbered(",%d", 999) + "\n" + numbered("%d"+repeat(",0.5", 999*4)+"\n", 999),
			[]string{"AUC(average=macro)", "AUC(average=weighted)"}},
		{"probabilities", "jsonl", "x", numbered(`{"id":%[1]d,"x":%[1]d}`+"\n", many), numbered(`{"id":%d,"x":`+repeat("[", 99)+"\n", many),
			products("AUC(positive='%d%d')", 7, 7)},
		{"diversity", "trec-run", "", numbered("1 1 d%d 1\n", many), "1 Q0 d1 1 1 x\n", products("alpha_nDCG(alpha=0.%d%d)@1000", 7, 7)},
		{"diversity", "trec-run", "", numbered("1 %[1]d d%[1]d 1\n", many), "1 Q0 d1 1 1 x\n", products("nERR_IA@%d%d9", 5, 9)},
		{"spans", "conll", "", numbered("a B-T%d\n", many), "a O\n", []string{"F1(average=macro)"}},
		{"spans", "conll", "", repeat("a B\n\n", 5*many), repeat("a I\n\n", 5*many), products("DocumentF1(type='%d%d')", 7, 7)},
		{"spans", "jsonl", "x", numbered(`{"id":%d,"x":`+list(`{"start":0,"end":1000000000}`, 1)+"}\n", many),
			numbered(`{"id":%d,"x":`+list(`{"start":999999999,"end":1000000000}`, 1)+"}\n", many), []string{"IoU(average=micro)", "DocumentF1"}},
		{"spans", "jsonl", "x", text("[" + numbered(`{"start":%[1]d,"end":1000000000},`, 9999) + `{"start":10000,"end":10001}]`),
			text("[" + numbered(`{"end":1000000000,"start":%[1]d},`, 9999) + `{"start":10000,"end":10001}]`),
			[]string{"F1(average=micro,overlap=any)", "F1(average=micro,overlap=proportional)"}},
	}
}

func hostileEvaluations(s *server) (out []request) {
	for _, e := range hostileTruths(s) {
		format := object{"kind": e.format}
		if e.value != "" {
			format["idField"], format["valueField"] = "id", e.value
		}
		truth := object{"files": []object{packed("truth", []byte(e.truth))}, "kind": e.kind, "format": format}
		out = append(out, post(s.newUser(), "/v1/tools/evaluator",
			encode(object{"runs": runs(packed("run", []byte(e.run))), "truth": truth, "measures": e.measures})))
	}
	return out
}
