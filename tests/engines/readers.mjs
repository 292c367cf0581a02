// Template languages that only their senders run, as their documentation describes them. They are small
// on purpose: what a document does not compile to is not here.
import Handlebars from 'handlebars'

/** SendGrid: Handlebars with its own helpers. */
export function sendgrid(text, data) {
  const engine = Handlebars.create()
  const block = (test) => function (a, b, options) {
    return test(a, b) ? options.fn(this) : options.inverse(this)
  }
  engine.registerHelper('equals', block((a, b) => a === b))
  engine.registerHelper('notEquals', block((a, b) => a !== b))
  engine.registerHelper('greaterThan', block((a, b) => a > b))
  engine.registerHelper('lessThan', block((a, b) => a < b))
  engine.registerHelper('insert', (value, fallback) => value || String(fallback).replace(/^default=/, ''))
  engine.registerHelper('formatDate', (value, pattern) => formatDate(new Date(value), pattern))
  const ours = text.replaceAll('<%asm_group_unsubscribe_raw_url%>', data.unsubscribe_url ?? '')
  return engine.compile(ours)(data)
}

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

function formatDate(date, pattern) {
  const two = (number) => String(number).padStart(2, '0')
  const words = {
    YYYY: date.getUTCFullYear(), MMMM: MONTHS[date.getUTCMonth()], MMM: MONTHS[date.getUTCMonth()].slice(0, 3),
    MM: two(date.getUTCMonth() + 1), dddd: DAYS[date.getUTCDay()], ddd: DAYS[date.getUTCDay()].slice(0, 3),
    DD: two(date.getUTCDate()), D: date.getUTCDate(), HH: two(date.getUTCHours()), mm: two(date.getUTCMinutes()),
  }
  return pattern.replace(/YYYY|MMMM|MMM|MM|dddd|ddd|DD|D|HH|mm/g, (word) => words[word])
}

const escape = (value) => String(value ?? '').replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c])
const truthy = (value) => Boolean(value) && !(Array.isArray(value) && value.length === 0)

/** Postmark's Mustachio: sections make paths relative, `../` goes back, only `each` repeats. */
export function postmark(text, data) {
  const find = (path, scopes) => {
    let depth = scopes.length - 1
    while (path.startsWith('../')) {
      depth -= 1
      path = path.slice(3)
    }
    if (path === '..') return scopes[depth - 1]
    if (path === '.') return scopes[depth]
    return path.split('.').reduce((value, key) => value?.[key], scopes[depth])
  }
  const render = (text, scopes) => {
    let out = ''
    while (text) {
      const start = text.indexOf('{{')
      if (start < 0) return out + text
      out += text.slice(0, start)
      text = text.slice(start)
      const raw = text.startsWith('{{{')
      const close = raw ? '}}}' : '}}'
      const end = text.indexOf(close)
      const tag = text.slice(raw ? 3 : 2, end).trim()
      text = text.slice(end + close.length)
      const kind = /^(#each |#|\^)/.exec(tag)
      if (!kind) {
        const value = tag === 'pm:unsubscribe' ? data.unsubscribe_url : find(tag, scopes)
        out += raw ? (value ?? '') : escape(value)
        continue
      }
      const path = tag.slice(kind[0].length)
      const [inside, rest] = block(text, kind[0] === '#each ' ? 'each' : path)
      text = rest
      const value = find(path, scopes)
      if (kind[0] === '#each ') for (const item of value ?? []) out += render(inside, [...scopes, item])
      else if (kind[0] === '#' && truthy(value)) out += render(inside, [...scopes, value])
      else if (kind[0] === '^' && !truthy(value)) out += render(inside, scopes)
    }
    return out
  }
  return render(text, [data])
}

/** What stands before the tag that closes `name`, and what after it. */
function block(text, name) {
  const tags = /\{\{([#^\/])(each\b ?)?([^}]*)\}\}/g
  let depth = 1
  for (let found; (found = tags.exec(text));) {
    const opened = found[1] !== '/'
    const named = found[2] ? 'each' : found[3].trim()
    if (named !== name) continue
    depth += opened ? 1 : -1
    if (depth === 0) return [text.slice(0, found.index), text.slice(tags.lastIndex)]
  }
  throw new Error(`{{${name}}} is not closed`)
}

/** Mailchimp: merge tags with short names in capitals, and conditions. */
export function mailchimp(text, data, named = {}) {
  const fields = {}
  for (const [path, field] of Object.entries(named)) {
    fields[field] = path.split('.').reduce((value, key) => value?.[key], data)
  }
  const walk = (value) => {
    for (const [key, one] of Object.entries(value)) {
      if (Array.isArray(one)) continue
      if (one && typeof one === 'object') walk(one)
      else fields[{ FIRST_NAME: 'FNAME', LAST_NAME: 'LNAME' }[key.toUpperCase()] ?? key.toUpperCase()] = one
    }
  }
  walk(data)
  fields.UNSUB = data.unsubscribe_url
  const modified = {
    UPPER: (value) => value.toUpperCase(), LOWER: (value) => value.toLowerCase(), URL: encodeURIComponent,
    TITLE: (value) => value.replace(/\S+/g, (word) => word[0].toUpperCase() + word.slice(1).toLowerCase()),
  }
  const test = (condition) => {
    const [, name, sign, with_] = /^(\S+)(?:\s+(=|!=|>=|<=|>|<)\s+(.*))?$/.exec(condition.replaceAll('&lt;', '<').replaceAll('&gt;', '>'))
    const value = fields[name]
    if (!sign) return truthy(value)
    const number = Number(with_)
    return { '=': String(value) === with_, '!=': String(value) !== with_, '>': value > number, '>=': value >= number, '<': value < number, '<=': value <= number }[sign]
  }
  const tokens = text.split(/(\*\|[^|]*\|\*)/)
  let at = 0
  const run = (shown) => {
    let out = ''
    while (at < tokens.length) {
      const token = tokens[at++]
      const tag = /^\*\|(.*)\|\*$/.exec(token)?.[1]
      if (tag === undefined) out += token
      else if (tag.startsWith('IF:')) {
        const holds = test(tag.slice(3))
        const then = run(true)
        const otherwise = tokens[at - 1] === '*|ELSE:|*' ? run(true) : ''
        out += holds ? then : otherwise
      } else if (tag === 'ELSE:' || tag === 'END:IF') return out
      else {
        const [modifier, name] = tag.includes(':') ? tag.split(':') : [null, tag]
        const value = String(fields[name] ?? '')
        out += modifier ? modified[modifier](value) : value
      }
    }
    return out
  }
  return run(true)
}
