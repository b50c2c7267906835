package offline

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/service/evaluation"
)

// TREC holds the supported flags of trec_eval 10.
type TREC struct {
	Measures  []string // values of -m, such as map, ndcg_cut.10,20, official, all_trec or set; official if empty
	PerTopic  bool     // -q
	Complete  bool     // -c: topics that the run lacks count as 0. Without it they do not count, as in trec_eval 9; version 10.0 stops there
	NoSummary bool     // -n
	Judged    bool     // -J
	Level     int      // -l
}

const depths = "5,10,15,20,30,100,200,500,1000"

// trecMeasures lists the measures of trec_eval that Assay has, in the order in which trec_eval prints them.
var trecMeasures = strings.Fields(`runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P recall infAP
	11pt_avg ndcg ndcg_cut map_cut success set_P set_relative_P set_recall set_map set_F`)

// trecCutoffs maps measures to their default cutoffs.
var trecCutoffs = map[string]string{"iprec_at_recall": "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0", "P": depths, "recall": depths,
	"ndcg_cut": depths, "map_cut": depths, "success": "1,5,10"}

// trecParameters maps measures with a parameter and one value to their form in Assay.
var trecParameters = map[string]string{"set_F": "SetF(beta=$)", "ndcg": "nDCG(gains={$})"}

// trecSets maps names of sets to their measures that Assay has. It lacks utility of set, and also relstring, unj, rbp, rbp_resid, gm_bpref,
// relative_P, Rprec_mult, ndcg_rel, Rndcg, binG, G and num_nonrel_judged_ret of all_trec.
var trecSets = map[string][]string{
	"official": trecMeasures[:slices.Index(trecMeasures, "P")+1],
	"set":      strings.Fields("runid num_q num_ret num_rel num_rel_ret set_P set_recall set_relative_P set_map set_F"),
	"all_trec": trecMeasures,
}

// column is a printed value: its name in the output of trec_eval, and the measure of Assay.
type column struct{ printed, of string }

// geometric reports whether the value is a geometric mean. Single topics do not have it.
func (c column) geometric() bool { return c.printed == "gm_map" }

// count reports whether the value is a sum. Sums are printed as whole numbers.
func (c column) count() bool { return strings.HasPrefix(c.printed, "num_") }

// columns returns the printed values in the order of trec_eval.
func (t TREC) columns() (list []column, err error) {
	asked := map[string][]string{}
	for _, text := range t.Measures {
		name, cutoffs, given := strings.Cut(text, ".")
		if set, ok := trecSets[name]; ok && !given {
			for _, of := range set {
				asked[of] = append(asked[of], "")
			}
			continue
		}
		if gains, ok := strings.CutPrefix(text, "ndcg_"); ok && strings.ContainsRune(gains, '=') {
			name, cutoffs = "ndcg", gains // the form in which trec_eval prints it
		} else if i := strings.LastIndexByte(text, '_'); !given && i > 0 && text[i+1:] != "" && strings.Trim(text[i+1:], "0123456789.") == "" {
			name, cutoffs = text[:i], text[i+1:] // the form in which trec_eval prints it
		}
		if !slices.Contains(trecMeasures, name) || cutoffs != "" && trecCutoffs[name] == "" && trecParameters[name] == "" {
			return nil, fmt.Errorf("there is no measure %q of trec_eval here; there are %s, and the sets official, set and all_trec",
				text, strings.Join(trecMeasures, ", "))
		}
		asked[name] = append(asked[name], cutoffs)
	}
	for _, name := range trecMeasures {
		if cutoffs, ok := asked[name]; ok {
			columns, err := t.columnsOf(name, cutoffs)
			if err != nil {
				return nil, err
			}
			list = append(list, columns...)
		}
	}
	return list, nil
}

// columnsOf returns the columns of one measure at the requested cutoffs.
func (t TREC) columnsOf(name string, asked []string) (list []column, err error) {
	if name == "runid" || name == "num_q" {
		return []column{{printed: name}}, nil
	}
	if parameter := trecParameters[name]; parameter != "" && asked[0] != "" {
		of, err := t.measure(strings.ReplaceAll(parameter, "$", asked[0]))
		return []column{{name + "_" + asked[0], of}}, err
	}
	if trecCutoffs[name] == "" {
		of, err := t.measure(name)
		return []column{{name, of}}, err
	}
	var depths []float64
	for _, text := range asked {
		text = cmp.Or(text, trecCutoffs[name])
		for one := range strings.SplitSeq(text, ",") {
			x, err := strconv.ParseFloat(one, 64)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %q is no number", name, text, one)
			}
			depths = append(depths, x)
		}
	}
	slices.Sort(depths)
	for _, x := range slices.Compact(depths) {
		c := column{printed: name + "_" + strconv.FormatFloat(x, 'f', -1, 64)}
		if c.of, err = t.measure(c.printed); err != nil {
			return nil, err
		}
		if name == "iprec_at_recall" {
			c.printed = fmt.Sprintf("%s_%3.2f", name, x)
		}
		list = append(list, c)
	}
	return list, nil
}

// measure returns the measure of Assay for a name in trec_eval. It sets the parameters of -l and -J if the measure has them.
func (t TREC) measure(name string) (string, error) {
	m, err := measure.Parse(measure.Retrieval, name)
	if err != nil {
		return "", err
	}
	values := map[string]string{}
	for _, p := range m.Params {
		values[p.Name] = p.Value
	}
	if t.Level != 1 && name != "num_ret" { // num_ret counts documents of every grade.
		values["rel"] = strconv.Itoa(t.Level)
	}
	if t.Judged {
		values["judged_only"] = "True"
	}
	m.Params = nil
	for _, f := range measure.EvaluatorOf(measure.Retrieval).Families {
		for _, p := range f.Parameters {
			if value, ok := values[p.Name]; ok && f.Name == m.Name {
				m.Params = append(m.Params, measure.Param{Name: p.Name, Value: value})
			}
		}
	}
	m, err = measure.Parse(measure.Retrieval, m.String())
	return m.String(), err
}

// Print evaluates a run and prints the values like trec_eval.
func (t TREC) Print(ctx context.Context, w io.Writer, qrels, run scoring.File) error {
	if len(t.Measures) == 0 {
		t.Measures = []string{"official"}
	}
	columns, err := t.columns()
	if err != nil {
		return err
	}
	// These measures are always needed: for the topics of the run, and for the counts of -c.
	s := scoring.Settings{Kind: measure.Retrieval, Format: measure.Format{Kind: measure.TRECRun}}
	s.Measures = []string{"NumRet", "NumRel"}
	for _, c := range columns {
		if c.of != "" {
			s.Measures = append(s.Measures, c.of)
		}
	}
	s.Measures = slices.Compact(slices.Sorted(slices.Values(s.Measures)))
	truth, err := ReadTruth(ctx, s, qrels)
	if err != nil {
		return err
	}
	runs, err := truth.Evaluate(ctx, run)
	if err != nil {
		return err
	}
	name := ""
	if columns[0].printed == "runid" {
		if name, err = tag(run); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(w)
	return errors.Join(t.print(out, columns, runs[0], name), out.Flush())
}

// tag returns the tag in the last line of a run. trec_eval prints this tag.
func tag(run scoring.File) (string, error) {
	f, err := run.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	text, err := lines.Unpack(f, lines.StandardExpansion)
	if err != nil {
		return "", err
	}
	var last []byte
	s := bufio.NewScanner(text)
	s.Buffer(nil, 2*bounds.Line)
	for s.Scan() {
		if line := bytes.TrimSpace(s.Bytes()); len(line) > 0 && line[0] != '#' {
			last = append(last[:0], line...)
		}
	}
	return evaluation.RunTag(record.RunFormat{Kind: measure.TRECRun}, bytes.NewReader(last)), s.Err()
}

func (t TREC) print(w io.Writer, columns []column, r Run, tag string) error {
	topics := slices.DeleteFunc(slices.Sorted(maps.Keys(r.PerTopic)), func(topic string) bool {
		return !t.Complete && r.PerTopic[topic]["NumRet"] == 0
	})
	if len(topics) == 0 {
		return &Refused{[]measure.Diagnostic{{Severity: measure.Error, Message: "the run has no topic of the judgments"}}}
	}
	sums := make([]float64, len(columns))
	for _, topic := range topics {
		values := r.PerTopic[topic]
		for i, c := range columns {
			value := values[c.of]
			if c.geometric() {
				sums[i] += math.Log(value)
				continue
			}
			sums[i] += value
			if t.PerTopic && c.of != "" {
				c.print(w, topic, value)
			}
		}
	}
	for i, c := range columns {
		switch {
		case t.NoSummary:
		case c.printed == "runid":
			fmt.Fprintf(w, "%-22s\t%s\t%s\n", c.printed, "all", tag)
		case c.printed == "num_q":
			c.print(w, "all", float64(len(topics)))
		case c.printed == "num_rel" && t.Complete: // trec_eval always counts it at level 1.
			c.print(w, "all", *r.Measures["NumRel"])
		case c.count():
			c.print(w, "all", sums[i])
		case c.geometric():
			c.print(w, "all", math.Exp(sums[i]/float64(len(topics))))
		default:
			c.print(w, "all", sums[i]/float64(len(topics)))
		}
	}
	return nil
}

func (c column) print(w io.Writer, topic string, value float64) {
	format := "%-22s\t%s\t%6.4f\n"
	if c.count() {
		format = "%-22s\t%s\t%.0f\n"
	}
	fmt.Fprintf(w, format, c.printed, topic, value)
}
