package retrieval_test
import ("testing";"strings";"time";"fmt"
"assay/shared/computation/measure/measuretest"
"assay/shared/computation/measure/retrieval"
)
func TestAttack(t *testing.T){
 var truth, run strings.Builder
 for q := range 100 { fmt.Fprintf(&truth,"q%d 0 d 1\n",q) }
 long:=strings.Repeat("b1-",20000)
 for q := range 100 { fmt.Fprintf(&run,"q%d Q0 %s%d 1 1 t\n",q,long,q) }
 q,d,err:=retrieval.ReadQrels(t.Context(),measuretest.File("t",truth.String()))
 t.Log(d,err)
 _=q
}
