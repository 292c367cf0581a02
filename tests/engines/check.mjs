// Renders every compiled document in every engine and compares it with what the dialect `none` gave.
//
//     node check.mjs CASES.json
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { balance, differences, lines } from './markup.mjs'
import { lint } from './linters.mjs'
import { against } from './mjml.mjs'

const folder = path.dirname(fileURLToPath(import.meta.url))
const file = path.resolve(process.argv[2])
const all = JSON.parse(fs.readFileSync(file, 'utf8'))
const failures = []
const counts = new Map()
const count = (name, good) => {
  const seen = counts.get(name) ?? { passed: 0, failed: 0 }
  seen[good ? 'passed' : 'failed'] += 1
  counts.set(name, seen)
}
const judge = (name, id, problem) => {
  count(name, !problem)
  if (problem) failures.push(`${name}: ${id}: ${problem}`)
}

const run = (program, script) =>
  JSON.parse(execFileSync(program, [...script, file], { cwd: folder, maxBuffer: 1 << 30, env: { ...process.env, TZ: 'UTC' } }))

const results = [
  ...run(path.join(folder, '.venv/bin/python'), ['render.py']),
  ...run(process.execPath, ['render.mjs']),
  ...run('ruby', ['render.rb']),
  ...run('go', ['run', 'render.go']),
]
const cases = new Map(all.map((one) => [one.id, one]))
for (const { engine, id, output, error } of results) {
  const one = cases.get(id)
  judge(engine, id, error ?? differences(output ?? '', one.expected, one.target, engine))
}
for (const one of all) {
  if (one.target === 'html' && one.dialect === 'none') {
    judge('Outlook comments balanced', one.id, balance(one.code))
    judge('lines below 900 bytes', one.id, lines(one.code))
  }
  if (one.target === 'mjml') {
    const html = all.find((other) => other.target === 'html' && other.dialect === 'none' && other.document === one.document && other.variant === one.variant)
    const { errors, difference } = await against(one.code, one.dialect === 'none' ? html?.code : undefined)
    judge('npm mjml strict', one.id, errors)
    if (one.dialect === 'none') judge('same elements as npm mjml', one.id, difference)
  }
}

lint(
  all.filter((one) => one.target === 'html' && one.dialect === 'none' && one.variant === 'sample' && !/^(generated|hostile \d)/.test(one.document)),
  judge,
)

for (const [name, { passed, failed }] of counts) console.log(`${String(passed).padStart(6)} passed ${String(failed).padStart(4)} failed  ${name}`)
for (const failure of failures.slice(0, Number(process.env.SHOWN ?? 40))) console.error(failure)
// A dialect that nothing was compiled for would pass unseen.
const idle = ['jinja2', 'klaviyo', 'liquid', 'handlebars', 'mustache', 'sendgrid', 'postmark', 'mailchimp', 'erb', 'go',
  'handlebars, helpers', 'liquid, escaping', 'erb, methods', 'mailchimp, fields', 'go, html/template'].filter(
  (dialect) => all.filter((one) => one.dialect === dialect).length < 8,
)
if (idle.length) console.error(`too few documents for ${idle.join(', ')}`)
const passed = [...counts.values()].reduce((sum, one) => sum + one.passed, 0)
console.log(`${passed} passed, ${failures.length} failed`)
process.exit(failures.length || idle.length ? 1 : 0)
