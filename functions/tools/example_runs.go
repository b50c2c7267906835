package tools

import (
	"fmt"
	"strings"

	"assay/functions/tools/inputs"
)

// exampleRuns are three runs that examples compare: they rank a lake, a pond and a road for eight topics.
var exampleRuns = []inputs.RunReference{
	{Name: "lakes", Files: exampleRunFile("lakes.txt", "lpr lpr plr lpr lpr lrp lpr lpr")},
	{Name: "ponds", Files: exampleRunFile("ponds.txt", "plr lpr plr plr prl plr lpr rlp")},
	{Name: "roads", Files: exampleRunFile("roads.txt", "rpl rlp prl rpl rpl rlp rpl rpl")},
}

// exampleTruth is what they are measured against: on every topic the lake is best and the pond good.
var exampleTruth = &inputs.TruthReference{Files: []inputs.InlineFile{{Name: "qrels.txt", Text: exampleQrels(8)}}}

func exampleQrels(topics int) string {
	var b strings.Builder
	for topic := range topics {
		fmt.Fprintf(&b, "%d 0 lake 2\n%d 0 pond 1\n", topic+1, topic+1)
	}
	return b.String()
}

// exampleRunFile is a run in the format of TREC, of the orders in which it ranks the documents for each topic.
func exampleRunFile(name, orders string) []inputs.InlineFile {
	words := map[rune]string{'l': "lake", 'p': "pond", 'r': "road"}
	var b strings.Builder
	for topic, order := range strings.Fields(orders) {
		for i, document := range order {
			fmt.Fprintf(&b, "%d Q0 %s %d %d x\n", topic+1, words[document], i+1, 9-i)
		}
	}
	return []inputs.InlineFile{{Name: name, Text: b.String()}}
}
