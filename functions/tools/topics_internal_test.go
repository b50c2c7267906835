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

// TestTheWorstAreHard has more topics at the worst mean than one in ten, and then all of them.
func TestTheWorstAreHard(t *testing.T) {
	for _, less := range []bool{false, true} {
		for worst, want := range map[int]int{1: 1, 3: 3, 10: 0} {
			by := []map[string]float64{{}}
			var topics []string
			for topic := range 10 {
				name, value := fmt.Sprint(topic), 0.
				if topic >= worst {
					value = .5
				}
				if less {
					value = -value
				}
				by[0][name], topics = value, append(topics, name)
			}
			out := TopicsOutput{Sort: sortTopic, LowerIsBetter: less}
			out.describeTopics(by, topics)
			hard := 0
			for _, line := range out.Topics {
				if line.Hard {
					hard++
				}
			}
			if hard != want {
				t.Errorf("%d of 10 topics are the worst, less is better: %v; %d are hard from %v, want %d", worst, less, hard, out.HardFrom, want)
			}
		}
	}
}
