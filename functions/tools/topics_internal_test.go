package tools

import (
	"fmt"
	"testing"
)

// TestRoundingMakesNoTopicStandOut has runs whose values are .3 but for rounding: quartiles that are equal leave no room
// for any difference, and neither does the mean of which nine in ten topics are no worse.
func TestRoundingMakesNoTopicStandOut(t *testing.T) {
	const above = 0.30000000000000004
	by := make([]map[string]float64, 7)
	var topics []string
	for topic := range 11 {
		topics = append(topics, fmt.Sprint(topic))
		for run := range by {
			if topic == 0 {
				by[run] = map[string]float64{"one differs": []float64{.3, .31}[run/6]}
			}
			by[run][fmt.Sprint(topic)] = above
			if topic == 0 && run != 2 {
				by[run][fmt.Sprint(topic)] = .3
			}
		}
	}
	out := TopicsOutput{Sort: sortTopic}
	out.describeTopics(by, topics)
	for _, line := range out.Topics {
		if line.Hard || len(line.Outliers) > 0 {
			t.Errorf("hard from %v: %+v", out.HardFrom, line)
		}
	}
	if line := describeTopic("one differs", by); fmt.Sprint(line.Outliers) != "[6]" {
		t.Errorf("%+v", line)
	}
}
