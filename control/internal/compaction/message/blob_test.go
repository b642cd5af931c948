package message

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"sluice.dev/control/internal/compaction"
)

const shortResult = `{"result":{"result":"AAAA","bytes_read":1,"bytes_written":2,"open_seconds":0.1,"cpu_seconds":0.2}}`

func longBlob() []byte {
	return bytes.Repeat([]byte{0xFB, 1, 2}, longText)
}

// A result of a compaction with hundreds of tables, however it is written.
func TestLongResults(t *testing.T) {
	text := base64.StdEncoding.EncodeToString(longBlob())
	for name, line := range map[string]string{
		"compact":       strings.Replace(shortResult, "AAAA", text, 1),
		"spaces":        strings.Replace(shortResult, `"AAAA"`, ` "`+text+`" `, 1),
		"unknown after": strings.Replace(shortResult, `"AAAA"`, `"`+text+`","new":"`+text+`"`, 1),
		"unknown first": strings.Replace(shortResult, `"result":"AAAA"`, `"new":"`+text+`","result":"`+text+`"`, 1),
		"escaped":       strings.Replace(shortResult, `"AAAA"`, `"`+strings.Replace(text, "/", `\/`, 1)+`"`, 1),
	} {
		said, err := ParseWorkerLine([]byte(line))
		if err != nil || !bytes.Equal(said.Result.Result, longBlob()) || said.Result.BytesWritten != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is long and no result is what it is without the short cut.
func TestLongTextsThatAreNoResult(t *testing.T) {
	text := base64.StdEncoding.EncodeToString(longBlob())
	for name, test := range map[string]struct{ line, want string }{
		"result in bounds":   {strings.Replace(shortResult, `"bytes_read"`, `"new":"`+text+`","bytes_read"`, 1), ""},
		"message in bounds":  {`{"failure":{"reason":"failed","message":"` + text + `"}}`, ""},
		"message too long":   {`{"failure":{"reason":"failed","message":"` + strings.Repeat("A", 70000) + `"}}`, "maxLength"},
		"result too long":    {strings.Replace(shortResult, "AAAA", strings.Repeat("A", 4*compaction.MaxBlobBytes/3+64), 1), "maxLength"},
		"no base64":          {strings.Replace(shortResult, "AAAA", text+"-", 1), "base64"},
		"no text":            {strings.Replace(shortResult, `"AAAA"`, text, 1), "invalid character"},
		"end of a line":      {strings.Replace(shortResult, "AAAA", text+"\r", 1), "invalid character"},
		"without end":        {`{"result":{"result":"` + text, "unexpected end"},
		"no member besides":  {`{"result":{"result":"` + text + `"}}`, "missing properties"},
		"within escapes":     {`{"failure":{"reason":"failed","message":"\"` + text[:len(text)/2] + `\""}}`, ""},
		"placeholder itself": {`{"failure":{"reason":"failed","message":"` + text + `"},"x":"dGFrZW4gb3V0"}`, ""},
	} {
		said, err := ParseWorkerLine([]byte(test.line))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v does not say %q", name, err, test.want)
		}
		plain, plainErr := parseWorkerLine([]byte(test.line))
		if (err == nil) != (plainErr == nil) || fmt.Sprint(marshal(t, said)) != fmt.Sprint(marshal(t, plain)) {
			t.Errorf("%s: %v with the short cut, %v without", name, err, plainErr)
		}
	}
}

func BenchmarkParseWorkerLine(b *testing.B) {
	text := base64.StdEncoding.EncodeToString(make([]byte, 360<<10))
	line := []byte(strings.Replace(shortResult, "AAAA", text, 1))
	for name, parse := range map[string]func([]byte) (WorkerLine, error){"taken out": ParseWorkerLine, "parsed": parseWorkerLine} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := parse(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
