package servicelevel

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice.dev/control/internal/store"
)

func readExample(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/two.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParse(t *testing.T) {
	archive := Object{
		Name: "archive", Store: "hbase", Scope: "shop:archive", MostOperationsPerSecond: 100, Weight: 0.5, Version: "7",
		Profile: Profile{DataBytes: 10e9, RowBytes: 1000, Locality: Random, ReadShare: 0.5},
		Target:  Target{Statistic: P99, Seconds: 0.5},
	}
	got, err := Parse([]byte(readExample(t)))
	if want := []Object{orders(), archive}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// The examples of the documentation can be applied.
func TestExamplesOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", pageOfAll))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllSubmatch(page, -1)
	if len(examples) == 0 {
		t.Error("there is no example")
	}
	for _, example := range examples {
		if _, err := Parse(example[1]); err != nil {
			t.Error(err)
		}
	}
	arithmetic, err := os.ReadFile("testdata/beside-another.txt")
	if err != nil || !strings.Contains(string(page), string(arithmetic)) {
		t.Errorf("the arithmetic on the page is not that of the test: %v", err)
	}
}

// What is measured at the store is the same whether that is written or not, also for those who know of no other place.
func TestWhereATargetIsMeasured(t *testing.T) {
	for written, want := range map[string]Place{"": AtStore, ", measured_at: store": AtStore, ", measured_at: client": AtClient} {
		got, err := Parse([]byte(strings.Replace(readExample(t), "seconds: 0.03", "seconds: 0.03"+written, 1)))
		if err != nil || got[0].Target.MeasuredAt != want || got[0].SameDemand(orders()) != (want == AtStore) {
			t.Errorf("%q: %+v, %v", written, got, err)
			continue
		}
		if err := got[0].Validate(); err != nil {
			t.Errorf("%q: %v", written, err)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, test := range []struct{ replaced, by, want string }{
		{"seconds: 0.03", "seconds: 0", "line 6: service_levels[0].target.seconds: 0 is too low"},
		{"zipfian", "latest", `"latest" is none of the values that are allowed. random`},
		{"row_bytes: 1000}", "row_bytes: 1000, kind: x}", "this key is not known. Known keys: data_bytes, locality"},
		{"scope: orders/cf", "scope: ''", "line 4: service_levels[0].scope: this is empty"},
		{"name: archive", "name: orders", "line 8: service_levels[1].name: the name orders is that of service_levels[0]"},
		{"row_bytes: 1000}", "row_bytes: 1.0e+8}", ""},
		{"data_bytes: 10.0e+9", "data_bytes: 10", "profile.row_bytes of orders is 1000, more than"},
		{"seconds: 0.03", "seconds: 0.03, measured_at: network", "store (what the store tells) or client"},
		{"statistic: mean", "statistic: p95", "mean, p50, p99 or p999"},
		{"service_levels:", "slos:", "service_levels is missing"},
		{"1000\n", ".inf\n", "most_operations_per_second"},
		{"1000\n", ".nan\n", "most_operations_per_second"},
		{"scope: orders/cf", `scope: "a\u0007"`, "not printable"},
	} {
		_, err := Parse([]byte(strings.Replace(readExample(t), test.replaced, test.by, 1)))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.by, err)
		case test.want == "":
		case err == nil || store.CodeOf(err) != store.CodeInvalid || !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: the error is %v, want %q in it", test.by, err, test.want)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := orders().Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Object){
		"name": func(o *Object) { o.Name = "Orders" }, "statistic": func(o *Object) { o.Target.Statistic = "p95" },
		"load": func(o *Object) { o.MostOperationsPerSecond = -1 }, "version": func(o *Object) { o.Version = "x" },
	} {
		changed := orders()
		change(&changed)
		if err := changed.Validate(); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(readExample(f)))
	f.Add([]byte("service_levels: []"))
	f.Add([]byte("service_levels: [{name: a, weight: .nan}]"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, problems := parse(text)
		for _, problem := range problems {
			if problem.Message == "" {
				t.Fatalf("a problem without a message: %+v", problem)
			}
		}
		if len(problems) > 0 {
			return
		}
		for _, object := range parsed {
			if err := object.Validate(); err != nil {
				t.Fatalf("an object was taken that is not valid: %v", err)
			}
			Admit(object, parsed, testbed())
		}
	})
}
