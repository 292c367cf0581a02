// Renders compiled documents with text/template.
//
//	go run render.go CASES.json > RESULTS.json
package main

import (
	"encoding/json"
	"fmt"
	html "html/template"
	"os"
	"strings"
	"text/template"
	"time"
)

type testCase struct {
	ID      string         `json:"id"`
	Dialect string         `json:"dialect"`
	Code    string         `json:"code"`
	Data    map[string]any `json:"data"`
	Dates   []string       `json:"dates"`
}

type result struct {
	Engine string `json:"engine"`
	ID     string `json:"id"`
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

func contains(list []string, wanted string) bool {
	for _, one := range list {
		if one == wanted {
			return true
		}
	}
	return false
}

// Data in which dates are dates.
func prepared(value any, dates []string, prefix string) any {
	switch one := value.(type) {
	case map[string]any:
		for key, inner := range one {
			one[key] = prepared(inner, dates, prefix+key+".")
		}
	case []any:
		for index, inner := range one {
			one[index] = prepared(inner, dates, prefix)
		}
	case string:
		if contains(dates, strings.TrimSuffix(prefix, ".")) {
			for _, layout := range []string{time.RFC3339, "2006-01-02"} {
				if date, err := time.Parse(layout, one); err == nil {
					return date
				}
			}
		}
	}
	return value
}

// The same with html/template, in which data of the type html is trusted.
func marked(one testCase) result {
	made := result{Engine: "html/template", ID: one.ID}
	functions := html.FuncMap{"safeHTML": func(text any) html.HTML { return html.HTML(fmt.Sprint(text)) }}
	var out strings.Builder
	parsed, err := html.New(one.ID).Funcs(functions).Parse(one.Code)
	if err == nil {
		err = parsed.Execute(&out, prepared(one.Data, one.Dates, ""))
	}
	if err != nil {
		made.Error = fmt.Sprint(err)
	} else {
		made.Output = out.String()
	}
	return made
}

func main() {
	raw, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var cases []testCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		panic(err)
	}
	results := []result{}
	for _, one := range cases {
		if one.Dialect == "go, html/template" {
			results = append(results, marked(one))
			continue
		}
		if one.Dialect != "go" {
			continue
		}
		made := result{Engine: "text/template", ID: one.ID}
		var out strings.Builder
		parsed, err := template.New(one.ID).Parse(one.Code)
		if err == nil {
			err = parsed.Execute(&out, prepared(one.Data, one.Dates, ""))
		}
		if err != nil {
			made.Error = fmt.Sprint(err)
		} else {
			made.Output = out.String()
		}
		results = append(results, made)
	}
	_ = json.NewEncoder(os.Stdout).Encode(results)
}
