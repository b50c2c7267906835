package offline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/shared/evaluation"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/measure/lines"
	"assay/shared/record"
)

// TREC are the flags of trec_eval 10 that are understood.
type TREC struct {
	Measures  []string // names as -m takes them: map, ndcg_cut.10,20, official, all_trec, set; none: official
	PerTopic  bool     // -q
	Complete  bool     // -c: topics that the run lacks count as 0. Without it they do not count, as in trec_eval 9; version 10.0 stops there
	NoSummary bool     // -n
	Judged    bool     // -J
	Level     int      // -l
}

// trecMeasure is a measure of trec_eval that Assay has too, with the parameters that -l and -J set.
type trecMeasure struct {
	name    string
	measure string // $ stands for a cutoff
	sets    string // parameters that it has: l of rel, J of judged_only
	cutoffs string // by default; empty: none
	count   bool   // a sum, which is printed as a whole number
}

const depths = "5,10,15,20,30,100,200,500,1000"

// trecMeasures are in the order in which trec_eval prints them.
var trecMeasures = []trecMeasure{
	{name: "runid"}, {name: "num_q", count: true}, {name: "num_ret", measure: "NumRet", count: true},
	{name: "num_rel", measure: "NumRel", sets: "l", count: true}, {name: "num_rel_ret", measure: "NumRelRet", sets: "l", count: true},
	{name: "map", measure: "AP", sets: "lJ"}, {name: "Rprec", measure: "Rprec", sets: "lJ"}, {name: "bpref", measure: "Bpref", sets: "l"},
	{name: "recip_rank", measure: "RR", sets: "lJ"},
	{name: "iprec_at_recall", measure: "IPrec@$", sets: "lJ", cutoffs: "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"},
	{name: "P", measure: "P@$", sets: "lJ", cutoffs: depths}, {name: "recall", measure: "R@$", sets: "lJ", cutoffs: depths},
	{name: "infAP", measure: "infAP", sets: "lJ"}, {name: "ndcg", measure: "nDCG", sets: "J"},
	{name: "ndcg_cut", measure: "nDCG@$", sets: "J", cutoffs: depths}, {name: "map_cut", measure: "AP@$", sets: "lJ", cutoffs: depths},
	{name: "success", measure: "Success@$", sets: "lJ", cutoffs: "1,5,10"},
	{name: "set_P", measure: "SetP", sets: "lJ"}, {name: "set_relative_P", measure: "SetRelP", sets: "lJ"},
	{name: "set_recall", measure: "SetR", sets: "l"}, {name: "set_map", measure: "SetAP", sets: "lJ"},
	{name: "set_F", measure: "SetF", sets: "lJ"},
}

// trecSets are the names that stand for several measures, as far as Assay has them. Of official it lacks gm_map, of set utility, and of
// all_trec those two and relstring, unj, rbp, rbp_resid, gm_bpref, 11pt_avg, relative_P, Rprec_mult, ndcg_rel, Rndcg, binG, G and
// num_nonrel_judged_ret.
var trecSets = map[string][]string{
	"official": strings.Fields("runid num_q num_ret num_rel num_rel_ret map Rprec bpref recip_rank iprec_at_recall P"),
	"set":      strings.Fields("runid num_q num_ret num_rel num_rel_ret set_P set_recall set_relative_P set_map set_F"),
	"all_trec": names(),
}

// column is one value that is printed, by the name that trec_eval prints and by that of Assay.
type column struct {
	printed, of string
	count       bool
}

// columns returns what is printed, in the order of trec_eval.
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
		if i := strings.LastIndexByte(text, '_'); !given && i > 0 && text[i+1:] != "" && strings.Trim(text[i+1:], "0123456789.") == "" {
			name, cutoffs = text[:i], text[i+1:] // as it is printed
		}
		known := slices.ContainsFunc(trecMeasures, func(m trecMeasure) bool {
			return m.name == name && (cutoffs == "" || m.cutoffs != "" || name == "set_F")
		})
		if !known {
			return nil, fmt.Errorf("there is no measure %q of trec_eval here; there are %s, and the sets official, set and all_trec",
				text, strings.Join(names(), ", "))
		}
		asked[name] = append(asked[name], cutoffs)
	}
	for _, m := range trecMeasures {
		if cutoffs, ok := asked[m.name]; ok {
			columns, err := m.columns(t, cutoffs)
			if err != nil {
				return nil, err
			}
			list = append(list, columns...)
		}
	}
	return list, nil
}

func names() (list []string) {
	for _, m := range trecMeasures {
		list = append(list, m.name)
	}
	return list
}

// columns are those of one measure by the flags, at the cutoffs that were asked for.
func (m trecMeasure) columns(t TREC, asked []string) ([]column, error) {
	of, at, _ := strings.Cut(m.measure, "@")
	var params []string
	if strings.Contains(m.sets, "l") && t.Level != 1 {
		if of == "NumRelRet" {
			of = "NumRet"
		}
		params = append(params, "rel="+strconv.Itoa(t.Level))
	}
	printed := m.name
	if m.name == "set_F" && asked[0] != "" {
		params, printed = append(params, "beta="+asked[0]), m.name+"_"+asked[0]
	}
	if strings.Contains(m.sets, "J") && t.Judged {
		params = append(params, "judged_only=True")
	}
	if len(params) > 0 {
		of += "(" + strings.Join(params, ",") + ")"
	}
	if at == "" {
		return []column{{printed, of, m.count}}, nil
	}
	var depths []float64
	for _, text := range asked {
		if text == "" {
			text = m.cutoffs
		}
		for one := range strings.SplitSeq(text, ",") {
			x, err := strconv.ParseFloat(one, 64)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %q is no number", m.name, text, one)
			}
			depths = append(depths, x)
		}
	}
	slices.Sort(depths)
	var list []column
	for _, x := range slices.Compact(depths) {
		number := strconv.FormatFloat(x, 'f', -1, 64)
		printed = m.name + "_" + number
		if m.name == "iprec_at_recall" {
			printed = fmt.Sprintf("%s_%3.2f", m.name, x)
		}
		list = append(list, column{printed, of + "@" + number, false})
	}
	return list, nil
}

// Print evaluates a run and prints the values as trec_eval does.
func (t TREC) Print(ctx context.Context, w io.Writer, qrels, run evaluator.File) error {
	if len(t.Measures) == 0 {
		t.Measures = []string{"official"}
	}
	columns, err := t.columns()
	if err != nil {
		return err
	}
	// Which topics the run has, how many documents -J leaves, and what -c counts, are needed in any case.
	s := evaluator.Settings{Kind: measure.Retrieval, Format: measure.Format{Kind: measure.TRECRun}}
	s.Measures = []string{"NumRet", "Judged", "NumRel"}
	for i, c := range columns {
		if c.of == "" {
			continue
		}
		m, err := measure.Parse(measure.Retrieval, c.of)
		if err != nil {
			return err
		}
		columns[i].of = m.String()
		s.Measures = append(s.Measures, m.String())
	}
	s.Measures = slices.Compact(slices.Sorted(slices.Values(s.Measures)))
	runs, err := Evaluate(ctx, s, []evaluator.File{qrels}, run)
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

// tag is what a run calls itself in its last line, the one that trec_eval prints.
func tag(run evaluator.File) (string, error) {
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
	s.Buffer(nil, 2*lines.MaxLine)
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
			if c.of == "NumRet" && t.Judged {
				value = float64(int(values["NumRet"]*values["Judged"] + 0.5))
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
		case c.printed == "num_rel" && t.Complete: // which trec_eval counts at level 1, whatever -l says
			c.print(w, "all", *r.Measures["NumRel"])
		case c.count:
			c.print(w, "all", sums[i])
		default:
			c.print(w, "all", sums[i]/float64(len(topics)))
		}
	}
	return nil
}

func (c column) print(w io.Writer, topic string, value float64) {
	if c.count {
		fmt.Fprintf(w, "%-22s\t%s\t%d\n", c.printed, topic, int64(value))
		return
	}
	fmt.Fprintf(w, "%-22s\t%s\t%6.4f\n", c.printed, topic, value)
}
