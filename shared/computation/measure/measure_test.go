package measure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

func TestParse_ReturnsTheCanonicalForm(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		text, want string
	}{
		{Retrieval, "AP", "AP"},
		{Retrieval, "MAP", "AP"},
		{Retrieval, "MAP@0100", "AP@100"},
		{Retrieval, "NDCG@10", "nDCG@10"},
		{Retrieval, "nDCG(dcg='exp-log2')@20", "nDCG(dcg='exp-log2')@20"},
		{Retrieval, `nDCG(dcg="exp-log2")@20`, "nDCG(dcg='exp-log2')@20"},
		{Retrieval, "nDCG(dcg=exp-log2)", "nDCG(dcg='exp-log2')"},
		{Retrieval, "nDCG(dcg='log2')", "nDCG"},
		{Retrieval, "MRR@10", "RR@10"},
		{Retrieval, "Precision(rel=2)@5", "P(rel=2)@5"},
		{Retrieval, "Recall@1000", "R@1000"},
		{Retrieval, " P ( judged_only=true , rel = 2 ) @ 10 ", "P(rel=2,judged_only=True)@10"},
		{Retrieval, "P(rel=1,judged_only=False)@10", "P@10"},
		{Retrieval, "P()@10", "P@10"},
		{Retrieval, "IPrec@0.10", "IPrec@0.1"},
		{Retrieval, "IPrec@0", "IPrec@0.0"},
		{Retrieval, "IPrec@-0", "IPrec@0.0"},
		{Retrieval, "IPrec@1", "IPrec@1.0"},
		{Retrieval, "IPrec@1e-5", "IPrec@1e-05"},
		{Retrieval, "SetF(beta=2)", "SetF(beta=2.0)"},
		{Retrieval, "SetF(beta=1000)", "SetF(beta=1000.0)"},
		{Retrieval, "SetF(beta=1)", "SetF"},
		{Retrieval, "RBP(p=0.80)", "RBP"},
		{Retrieval, "RBP(rel=1,p=.95)@20", "RBP(p=0.95,rel=1)@20"},
		{Retrieval, "RBP(p=0.00001)", "RBP(p=1e-05)"},
		{Retrieval, "SetF(beta=0.5)", "SetF(beta=0.5)"},
		{Retrieval, "NumRet(rel=1)", "NumRet(rel=1)"},
		{Retrieval, "NumRelRet", "NumRet(rel=1)"},
		{Retrieval, "NumRelRet(rel=2)", "NumRet(rel=2)"},
		{Retrieval, "SetRelP", "SetP(relative=True)"},
		{Retrieval, "SetRelP(rel=2)", "SetP(rel=2,relative=True)"},
		{Retrieval, "nDCG(gains={1: 3.50, 0=-0})@10", "nDCG(gains={0:0,1:3.5})@10"},
		{Retrieval, "nDCG(gains='{2:1}',dcg='exp-log2')", "nDCG(dcg='exp-log2',gains={2:1})"},
		{Classification, "Kappa(labels=1..5,weights=linear)", "Kappa(weights=linear,labels=1..5)"},
		{Classification, "Kappa(weights=linear,labels='low,high')", "Kappa(weights=linear,labels='low,high')"},
		{Retrieval, "nDCG(judged_only=True,gains='1=2')", "nDCG(gains={1:2},judged_only=True)"},
		{Classification, "F1(average=macro)", "F1(average=macro)"},
		{Classification, "Precision(positive=spam)", "Precision(positive=spam)"},
		{Classification, "Recall(positive='spam')", "Recall(positive=spam)"},
		{Classification, "Recall(positive='not spam, \\'ham\\' \\\\')", "Recall(positive='not spam, \\'ham\\' \\\\')"},
		{Classification, "F1(positive=größe)", "F1(positive=größe)"},
		{Classification, "F1(positive=1)", "F1(positive=1)"},
		{Regression, "RMSE", "RMSE"},
		{Regression, "MedAE", "MedianAE"},
		{Probabilities, "ROC_AUC(average=macro)", "AUC(average=macro)"},
		{Spans, "F1(scheme='BIOES',average=micro)", "F1(average=micro,scheme=IOBES)"},
		{Spans, "IoU(type=BIO,scheme = BIO)", "IoU(type=BIO,scheme=IOB2)"},
		{Retrieval, "P@1000000", "P@1000000"},
		{Retrieval, "AP" + strings.Repeat(" ", MaxName-2), "AP"},
		{Classification, "F1(positive=" + strings.Repeat("a", MaxName-13) + ")", "F1(positive=" + strings.Repeat("a", MaxName-13) + ")"},
	} {
		m, err := Parse(c.kind, c.text)
		if err != nil || m.String() != c.want {
			t.Errorf("Parse(%s, %q) = %q, %v; want %q", c.kind, c.text, m, err, c.want)
		}
		checkReadsBack(t, c.kind, c.text)
	}
}

// TestParse_TakesNamesOfTrecEval maps names that trec_eval prints, and some names of its option -m, to the names in ir-measures 0.4.3.
func TestParse_TakesNamesOfTrecEval(t *testing.T) {
	for text, want := range map[string]string{
		"map": "AP", "map_cut_10": "AP@10", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10", "ndcg_cut.10": "nDCG@10", "P_5": "P@5", "P.5": "P@5",
		"recall_1000": "R@1000", "success_1": "Success@1", "recip_rank": "RR", "Rprec": "Rprec", "bpref": "Bpref", "infAP": "infAP",
		"iprec_at_recall_0.00": "IPrec@0.0", "iprec_at_recall_0.10": "IPrec@0.1", "iprec_at_recall.1.00": "IPrec@1.0",
		"num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRet(rel=1)",
		"set_P": "SetP", "set_relative_P": "SetP(relative=True)", "set_recall": "SetR", "set_map": "SetAP", "set_F": "SetF",
		"set_F_2.0": "SetF(beta=2.0)", "set_F.2": "SetF(beta=2.0)",
		"gm_map": "GMAP", "11pt_avg": "IAP", "ndcg.1=3.5,2=9.0": "nDCG(gains={1:3.5,2:9})", "ndcg_0=-1": "nDCG(gains={0:-1})",
	} {
		if m, err := Parse(Retrieval, text); err != nil || m.String() != want {
			t.Errorf("%s is %q, %v; want %s", text, m, err, want)
		}
	}
	for _, text := range []string{"map_cut", "map_10", "P_0", "P_5,10", "ndcg_cut_x", "gm_bpref", "ndcg_1", "ndcg.1=x",
		"ndcg.1=1}", "set_P_2", "recip_rank_10", "_5", "5"} {
		if m, err := Parse(Retrieval, text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s is %q, %v", text, m, err)
		}
	}
	if m, err := Parse(Classification, "map"); err == nil {
		t.Errorf("map is %q for classification", m)
	}
}

func TestParse_Errors(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		text, want string
	}{
		{Retrieval, "", `there is no retrieval measure ""; there are nDCG, AP`},
		{Retrieval, "ndcg@10", "did you mean nDCG@10?"},
		{Retrieval, "ndcg@x", "did you mean nDCG?"},
		{Retrieval, "Presicion@10", "did you mean P@10?"},
		{Retrieval, "Accuracy", "there is no retrieval measure"},
		{Retrieval, "(rel=1)", `there is no retrieval measure ""`},
		{Retrieval, "AZ_az09()", `there is no retrieval measure "AZ_az09"`},
		{Classification, "AP", `no classification measure "AP", but one of the kind retrieval, probabilities: choose that kind, or one of Accuracy, `},
		{Classification, "BLEU(lowercase=True)", `no classification measure "BLEU", but one of the kind text: choose`},
		{Classification, "BLUE", `there is no classification measure "BLUE"; there are Accuracy, BalancedAccuracy`},
		{Diversity, "nDCG@10", "but one of the kind retrieval: "},
		{Regression, "RMSD", "did you mean RMSE? There are MSE, RMSE, MAE"},
		{Regression, "spearman's", "did you mean Spearman?"},
		{Text, "ROUGE-L", "did you mean ROUGEL?"},
		{Text, "rouge_l_sum(stem=True)", "did you mean ROUGELsum(stem=True)?"},
		{Probabilities, "F0.5u", "did you mean F05u?"},
		{Classification, "macro F1", "did you mean F1(average=macro)?"},
		{Classification, "f1_weighted", "did you mean F1(average=weighted)?"},
		{Classification, "quadratic kappa", "did you mean Kappa(weights=quadratic)?"},
		{Spans, "F1(average=micro,scheme=BMES)", "give one of IOB1, IOB2"},
		{"worker", "AP", `kind "worker"`},
		{Retrieval, "P", "P needs a cutoff: P@10"},
		{Retrieval, "IPrec", "IPrec@0.1"},
		{Retrieval, "IPrec@1.5", "from 0 to 1"},
		{Retrieval, "IPrec@NaN", "from 0 to 1"},
		{Retrieval, "P@0", "from 1 to 1000000"},
		{Retrieval, "P@-1", "from 1 to 1000000"},
		{Retrieval, "P@1.5", "whole number"},
		{Retrieval, "P@", "whole number"},
		{Retrieval, "P@10@20", "whole number"},
		{Retrieval, "Rprec@10", "Rprec has no cutoff; leave @10 out"},
		{Retrieval, "P(2)@10", `P has no parameter "2"`},
		{Retrieval, "P('x')@10", "written as name=value"},
		{Retrieval, "P(rel)@10", "write rel=value"},
		{Classification, "Kappa(labels=1..5)", "labels of Kappa goes with weights"},
		{Classification, "Kappa(weights=linear,labels=5..1)", "give the labels of the scale in order"},
		{Classification, "Kappa(weights=linear,labels=1..1001)", "at most 1000 whole numbers"},
		{Classification, "Kappa(weights=linear,labels=-9223372036854775808..9223372036854775807)", "at most 1000 whole numbers"},
		{Classification, "Kappa(weights=linear,labels=9223372036854775800..9223372036854775807)", "at most 1000 whole numbers"},
		{Classification, "Kappa(weights=linear,labels='a,b,a')", "give the labels of the scale in order"},
		{Classification, "FPR", "FPR needs positive: FPR(positive=LABEL)"},
		{Retrieval, "P(k=2)@10", `no parameter "k"; it has rel, judged_only`},
		{Retrieval, "NumQ(rel=1)", "takes no parameters"},
		{Retrieval, "P(rel=0)@10", "from 1 to"},
		{Retrieval, "P(rel=x)@10", "whole number"},
		{Retrieval, "P(rel=1,rel=2)@10", "given twice"},
		{Retrieval, "P(rel=1 judged_only=True)@10", "expected a comma or )"},
		{Retrieval, "P(rel=1", "expected a comma or )"},
		{Classification, "F1(average=macro,labels='a,b,a')", `has "a" twice`},
		{Probabilities, "AUC(average=macro,positive=1)", "positive of AUC excludes average"},
		{Probabilities, "AP(positive=1,average=weighted)", "positive of AP excludes average"},
		{Diversity, "alpha_nDCG@1001", "from 1 to 1000"},
		{Diversity, "alpha_DCG(alpha=0.3)@1001", "from 1 to 1000"},
		{Diversity, "nERR_IA@1001", "from 1 to 1000"},
		{Retrieval, "P(judged_only=1)@10", "True or False"},
		{Retrieval, "nDCG(dcg=ln)@10", "log2, exp-log2"},
		{Retrieval, "nDCG(gains={})", "give numbers from -1e+06 to 1e+06 by grade"},
		{Retrieval, "nDCG(gains={1:2,1:3})", "each grade once"},
		{Retrieval, "nDCG(gains={-1:2})", "by grade from 0"},
		{Retrieval, "nDCG(gains={1:inf})", "give numbers"},
		{Retrieval, "nDCG(gains={1:NaN})", "give numbers"},
		{Retrieval, "nDCG(gains={1:2,})", "give numbers"},
		{Retrieval, "nDCG(gains={1:2)", "give numbers"},
		{Retrieval, "RBP(p=0)", "between 0 and 1"},
		{Retrieval, "RBP(p=1)", "between 0 and 1"},
		{Retrieval, "RBP(p=NaN)", "between 0 and 1"},
		{Retrieval, "SetF(beta=-1)", "from 0 to 1000"},
		{Retrieval, "AP x", "left over"},
		{Spans, "F1", "exactly one of average, type: F1(average=macro) or F1(type=LABEL)"},
		{Classification, "F1", "exactly one of average, positive: F1(average=macro) or F1(positive=LABEL)"},
		{Classification, "F1(average=macro,positive=a)", "exactly one of"},
		{Classification, "F1(average=binary)", "macro, micro, weighted"},
		{Classification, "F1(positive='a)", "never closed"},
		{Classification, "F1(positive=)", "give a label"},
		{Classification, "F1(positive='a\nb')", "give a label"},
		{Retrieval, "AP" + strings.Repeat(" ", 99), "too long"},
		{Classification, "F1(positive=\"" + strings.Repeat("'", 80) + "\")", "too long"},
		{Retrieval, "AP\xff", "UTF-8"},
	} {
		m, err := Parse(c.kind, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%s, %q) = %q, %v; want an error with %q", c.kind, c.text, m, err, c.want)
		}
	}
}

func TestMeasure_HasDefaultParameters(t *testing.T) {
	m, err := Parse(Retrieval, "RBP(rel=2)@20")
	if err != nil {
		t.Fatal(err)
	}
	if m.Number("p") != 0.8 || int(m.Number("rel")) != 2 || m.Depth() != 20 || m.Flag("judged_only") {
		t.Errorf("got p %v, rel %v, depth %v", m.Number("p"), int(m.Number("rel")), m.Depth())
	}
	m, _ = Parse(Retrieval, "RBP")
	if int(m.Number("rel")) != 0 || m.Depth() != 0 {
		t.Errorf("rel %d and depth %d without one", int(m.Number("rel")), m.Depth())
	}
	m, _ = Parse(Retrieval, "IPrec(judged_only=True)@1")
	if m.Recall() != 1 || m.Depth() != 0 || int(m.Number("rel")) != 1 || !m.Flag("judged_only") {
		t.Errorf("%v: recall %v, rel %d, judged_only %v", m, m.Recall(), int(m.Number("rel")), m.Flag("judged_only"))
	}
}

func TestCatalogue_OnlyErrorsAreBetterWhenLow(t *testing.T) {
	for _, e := range Evaluators {
		for _, f := range e.Families {
			low := strings.HasSuffix(f.Name, "Loss") || f.Name == "Brier" ||
				strings.HasSuffix(f.Name, "MSE") || strings.HasSuffix(f.Name, "AE") || f.Name == "MAPE" || f.Name == "FPR" || f.Name == "FNR"
			if f.HigherIsBetter == low {
				t.Errorf("%s: HigherIsBetter is %v", f.Name, f.HigherIsBetter)
			}
		}
	}
	if m, err := Parse(Regression, "MAE"); err != nil || m.HigherIsBetter() {
		t.Errorf("MAE: %v, %v", m.HigherIsBetter(), err)
	}
}

// checkSentences reports conventions that are not single sentences.
func checkSentences(t *testing.T, of string, conventions []string) {
	t.Helper()
	for _, text := range conventions {
		if !strings.HasSuffix(text, ".") || strings.Count(text, ". ") > 0 {
			t.Errorf("%s: the convention is not one sentence: %q", of, text)
		}
	}
}

func TestCatalogue_IsComplete(t *testing.T) {
	for _, e := range Evaluators {
		if len(e.Conventions) == 0 || len(e.Limits) < 4 {
			t.Errorf("%s has %d conventions and %d limits", e.Kind, len(e.Conventions), len(e.Limits))
		}
		checkSentences(t, string(e.Kind), e.Conventions)
		for i, l := range e.Limits {
			if l.Most <= 0 || slices.ContainsFunc(e.Limits[:i], func(other Limit) bool { return other.Of == l.Of }) {
				t.Errorf("%s has the limit %+v", e.Kind, l)
			}
		}
		seen := map[string]bool{}
		for _, name := range e.Defaults {
			if _, err := Parse(e.Kind, name); err != nil {
				t.Error(err)
			}
		}
		for _, f := range e.Families {
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				if seen[name] {
					t.Errorf("%s: %s is there twice", e.Kind, name)
				}
				seen[name] = true
			}
			if !strings.HasSuffix(f.Definition, ".") || strings.Count(f.Definition, ". ") > 0 {
				t.Errorf("%s: the definition is not one sentence: %q", f.Name, f.Definition)
			}
			checkSentences(t, f.Name, f.Conventions)
			for _, p := range f.Parameters {
				if p.Definition == "" || p.Domain == "" {
					t.Errorf("%s: parameter %+v", f.Name, p)
				}
				if p.Default != "" {
					if value, err := p.canonical(p.Default); err != nil || value != p.Default {
						t.Errorf("%s: default %q of %s is not canonical: %q, %v", f.Name, p.Default, p.Name, value, err)
					}
				}
			}
		}
	}
}

// readsTheCanonicalForm draws texts similar to measures, and calls checkReadsBack.
func readsTheCanonicalForm(t *rapid.T) {
	piece := rapid.SampledFrom([]string{"AP", "P", "F1", "RBP", "nDCG", "IPrec", "(", ")", ",", "=", "@", "rel", "p", "positive",
		"judged_only", "average", "dcg", "10", "0.5", "1e-7", "True", "macro", "'exp-log2'", "'a b'", "'\\''", "\"x'\"", "ü", " ", "\u00a0"})
	label := rapid.Map(rapid.String(), func(s string) string {
		return "F1(positive='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "')"
	})
	near := rapid.Map(rapid.SliceOfN(piece, 1, 12), func(p []string) string { return strings.Join(p, "") })
	text := rapid.OneOf(label, near, rapid.String()).Draw(t, "text")
	checkReadsBack(t, Kind(rapid.SampledFrom(Kinds()).Draw(t, "kind")), text)
}

func TestParse_ReadsTheCanonicalForm(t *testing.T) { nightlytest.Check(t, readsTheCanonicalForm) }

func FuzzParse(f *testing.F) { f.Fuzz(rapid.MakeFuzz(readsTheCanonicalForm)) }

// checkReadsBack checks that parsing the canonical form of a measure returns the same form. Texts that do not parse are ignored.
func checkReadsBack(t rapid.TB, kind Kind, text string) {
	m, err := Parse(kind, text)
	if err != nil {
		return
	}
	if again, err := Parse(kind, m.String()); err != nil || again.String() != m.String() {
		t.Fatalf("%q gives %q, which reads back as %q, %v", text, m, again, err)
	}
}

func TestCompute_HasFiniteValuesAlone(t *testing.T) {
	m := Measure{Kind: Regression, Name: "MSE"}
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1} {
		r := Compute(steps.Of(t.Context()), []Measure{m}, func(Measure) (float64, string) { return value, "" })
		if finite := value == 1; (r.Measures["MSE"] != nil) != finite || (r.Reasons["MSE"] == "") != finite {
			t.Errorf("%v has the value %v and the reason %q", value, r.Measures["MSE"], r.Reasons["MSE"])
		}
	}
}

func TestSum_KeepsSmallTermsNextToLargeOnes(t *testing.T) {
	var s Sum
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		s.Add(x)
	}
	if got := s.Total(); got != 2 {
		t.Errorf("the sum is %v, want 2", got)
	}
}

// TestSum_OfEqualMeansIsEqual adds pairs of values with the same mean, such as the precisions 2/3 and 0, or 1/3 and 1/3.
func TestSum_OfEqualMeansIsEqual(t *testing.T) {
	mean := func(a, b float64) float64 {
		var s Sum
		for range 79 {
			s.Add(a)
			s.Add(b)
		}
		return s.Total() / 158
	}
	if x, y := mean(2.0/3, 0), mean(1.0/3, 1.0/3); x != y {
		t.Errorf("%v and %v", x, y)
	}
	if x, y := mean(1, 1.0/3), mean(2.0/3, 2.0/3); x != y {
		t.Errorf("%v and %v", x, y)
	}
}

// TestEvaluators_HideValuesThatTellTheTruth lists every kind, so that a new kind needs a decision.
func TestEvaluators_HideValuesThatTellTheTruth(t *testing.T) {
	safe := map[Kind]bool{
		Retrieval: true, "diversity": true, "text": true, "spans": true,
		Classification: false, Regression: false, Clustering: false, "multilabel": false, "probabilities": false,
	}
	for _, e := range Evaluators {
		if want, decided := safe[e.Kind]; !decided || e.SafePerTopic != want {
			t.Errorf("SafePerTopic of %s is %v, and decided here: %v", e.Kind, e.SafePerTopic, decided)
		}
	}
}
