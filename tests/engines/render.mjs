// Renders compiled documents with the engines of JavaScript.
//
//     node render.mjs CASES.json > RESULTS.json
import fs from 'node:fs'
import Handlebars from 'handlebars'
import { Liquid } from 'liquidjs'
import Mustache from 'mustache'
import { mailchimp, postmark, sendgrid } from './readers.mjs'

const liquid = new Liquid()
const escaping = new Liquid({ outputEscape: 'escape' })
const helped = Handlebars.create()
// Neither more nor less than a number is what is no number.
const compared = (test) => (one, two) => typeof one === 'number' && test(one, two)
helped.registerHelper({
  eq: (one, two) => one === two,
  gt: compared((one, two) => one > two),
  gte: compared((one, two) => one >= two),
  lt: compared((one, two) => one < two),
  lte: compared((one, two) => one <= two),
})
const engines = [
  ['liquidjs', 'liquid', (text, data) => liquid.parseAndRenderSync(text, data)],
  ['handlebars', 'handlebars', (text, data) => Handlebars.compile(text)(data)],
  ['liquidjs, escaping', 'liquid, escaping', (text, data) => escaping.parseAndRenderSync(text, data)],
  ['handlebars, helpers', 'handlebars, helpers', (text, data) => helped.compile(text)(data)],
  ['Mailchimp, fields', 'mailchimp, fields', mailchimp],
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
      result.output = render(one.code, structuredClone(one.data), one.fields)
    } catch (error) {
      result.error = String(error)
    }
    results.push(result)
  }
}
process.stdout.write(JSON.stringify(results))
