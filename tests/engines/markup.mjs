// How results are compared.
import { parse } from 'parse5'

const NAMED = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Entities of escaped text read, blanks folded. */
function folded(text, target) {
  const read = target === 'text' || target === 'subject'
    ? text
    : text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(amp|lt|gt|quot|apos));/gi, (all, hex, decimal, name) => {
        const code = hex ? parseInt(hex, 16) : decimal ? Number(decimal) : 0
        if (name) return NAMED[name.toLowerCase()]
        return code < 128 ? String.fromCharCode(code) : all
      })
  return read.replaceAll('<mj-raw></mj-raw>', ' ').replaceAll('\u2060', '').replace(/\s+/g, ' ').replace(/> </g, '><').trim()
}

/** What differs, or nothing. */
export function differences(output, expected, target, engine) {
  let [one, two] = [folded(output, target), folded(expected, target)]
  if (engine === 'text/template') {
    // Its `urlquery` writes a blank as a plus sign.
    ;[one, two] = [one.replaceAll('+', '%20'), two.replaceAll('+', '%20')]
  }
  if (one === two) return undefined
  let at = 0
  while (one[at] === two[at]) at += 1
  const around = (text) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 60))
  return `${around(one)} instead of ${around(two)}`
}

/** The HTML as classic Outlook reads it. */
export function opened(html) {
  return html
    .replace(/<!--\[if !mso\]><!-->[\s\S]*?<!--<!\[endif\]-->/g, '')
    .replace(/<!--\[if [^\]]*mso[^\]]*\]>([\s\S]*?)<!\[endif\]-->/g, '$1')
}

const CHECKED = /<(\/?)(table|tbody|tr|td|th|div|v:rect|v:textbox|v:roundrect)\b([^>]*?)(\/?)>/g

/** What is not balanced in the HTML as classic Outlook reads it, or nothing. */
export function balance(html) {
  const body = opened(html).replace(/[\s\S]*<body/, '<body')
  const open = []
  for (const [tag, end, name, , self] of body.matchAll(CHECKED)) {
    if (self) continue
    if (!end) open.push(name)
    else if (open.pop() !== name) return `${tag} closes nothing`
  }
  const rest = html.replace(/<!--[\s\S]*?-->/g, '')
  const stray = rest.match(/<!--|-->|<!\[endif\]/)
  if (stray) return `${stray[0]} outside of a comment`
  return open.length ? `${open.join(', ')} not closed` : undefined
}

/** A line that is too long, or nothing. */
export function lines(html) {
  const long = html.split('\n').map((line) => Buffer.byteLength(line)).filter((length) => length > 900)
  return long.length ? `${long.length} lines over 900 bytes, the longest ${Math.max(...long)}` : undefined
}

/** Elements of the body with their attributes and words, as a list. */
export function elements(html) {
  const list = []
  const style = (text) => text.split(';').map((one) => one.trim().replace(/\s*:\s*/, ':')).filter(Boolean).sort().join(';')
  const walk = (node) => {
    if (node.nodeName === '#text') {
      const words = node.value.replace(/\s+/g, ' ').trim()
      if (words) list.push(`"${words}"`)
    }
    if (node.tagName) {
      const attributes = (node.attrs ?? [])
        .map(({ name, value }) => [name, name === 'style' ? style(value) : name === 'class' ? value.split(/\s+/).sort().join(' ') : value.trim()])
        .filter(([name, value]) => !(['class', 'style'].includes(name) && value === ''))
        .map(([name, value]) => `${name}=${value}`)
        .sort()
      list.push(`<${node.tagName} ${attributes.join(' ')}>`)
    }
    for (const child of node.childNodes ?? []) walk(child)
  }
  const page = parse(opened(html))
  const root = page.childNodes.find((node) => node.tagName === 'html')
  walk(root.childNodes.find((node) => node.tagName === 'body'))
  return list
}
