package measure

import "strings"

// trecEval has measures by the names that trec_eval has for them. Where a name has a parameter, it ends in an underscore
// here, and the parameter stands for $.
var trecEval = map[string]string{
	"map": "AP", "map_cut_": "AP@$", "ndcg": "nDCG", "ndcg_cut_": "nDCG@$", "P_": "P@$", "recall_": "R@$", "success_": "Success@$",
	"recip_rank": "RR", "bpref": "Bpref", "iprec_at_recall_": "IPrec@$", "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel",
	"num_rel_ret": "NumRelRet", "set_P": "SetP", "set_relative_P": "SetRelP", "set_recall": "SetR", "set_map": "SetAP",
	"set_F": "SetF", "set_F_": "SetF(beta=$)",
}

// fromTrecEval returns the measure that a name of trec_eval stands for, as it prints it (P_5) or is asked for it (P.5); any
// other text as it is.
func fromTrecEval(text string) string {
	name, parameter := strings.TrimSpace(text), ""
	if i := strings.IndexAny(name, "0123456789"); i > 0 && (name[i-1] == '_' || name[i-1] == '.') {
		name, parameter = name[:i-1]+"_", name[i:]
	}
	if known, ok := trecEval[name]; ok {
		return strings.ReplaceAll(known, "$", parameter)
	}
	return text
}
