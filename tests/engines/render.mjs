// Renders compiled documents with the engines of JavaScript.
//
//     node render.mjs CASES.json > RESULTS.json
import fs from 'node:fs'
import Handlebars from 'handlebars'
import { Liquid } from 'liquidjs'
import Mustache from 'mustache'
import { mailchimp, postmark, sendgrid } from './readers.mjs'

const liquid = new Liquid()
const engines = [
  ['liquidjs', 'liquid', (text, data) => liquid.parseAndRenderSync(text, data)],
  ['handlebars', 'handlebars', (text, data) => Handlebars.compile(text)(data)],
  ['mustache', 'mustache', (text, data) => Mustache.render(text, data)],
  ['SendGrid, by its documentation', 'sendgrid', sendgrid],
  ['Postmark, by its documentation', 'postmark', postmark],
  ['Mailchimp, by its documentation', 'mailchimp', mailchimp],
]

const results = []
const cases = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))
for (const [engine, dialect, render] of engines) {
  for (const one of cases.filter((one) => one.dialect === dialect)) {
    const result = { engine, id: one.id }
    try {
      result.output = render(one.code, structuredClone(one.data))
    } catch (error) {
      result.error = String(error)
    }
    results.push(result)
  }
}
process.stdout.write(JSON.stringify(results))
